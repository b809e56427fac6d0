CREATE DATABASE shop CHARACTER SET utf8mb4;
USE shop;
CREATE TABLE orders (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, customer VARCHAR(40) NOT NULL, total DECIMAL(8,2) NOT NULL, state ENUM('new','paid','sent') NOT NULL DEFAULT 'new', note TEXT, at DATETIME(3) NOT NULL, KEY (customer));
INSERT INTO orders (customer, total, state, note, at) WITH RECURSIVE s (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < 60) SELECT CONCAT('c', i % 7), i * 1.25, ELT(1 + i % 3, 'new', 'paid', 'sent'), IF(i % 4, CONCAT('note é', i), NULL), TIMESTAMP('2024-02-28 23:59:00') + INTERVAL i SECOND FROM s;
-- @mark original
-- What gh-ost makes before it copies: leftovers go, the changelog and the ghost come
drop /* gh-ost */ table if exists `shop`.`_orders_gho`;
drop /* gh-ost */ table if exists `shop`.`_orders_del`;
drop /* gh-ost */ table if exists `shop`.`_orders_ghc`;
create /* gh-ost */ table `shop`.`_orders_ghc` ( id bigint unsigned auto_increment, last_update timestamp not null DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP, hint varchar(64) charset ascii not null, value varchar(4096) charset ascii not null, primary key(id), unique key hint_uidx(hint) ) auto_increment=256 comment='gh-ost-changelog';
create /* gh-ost */ table `shop`.`_orders_gho` like `shop`.`orders`;
alter /* gh-ost */ table `shop`.`_orders_gho` add column currency char(3) not null default 'EUR' after total, modify state varchar(10) not null default 'new', drop column note, add unique key at_id (at, id), drop key customer, rename column customer to client;
insert /* gh-ost */ into `shop`.`_orders_ghc` (id, hint, value) values (NULLIF(2, 0), 'state', 'GhostTableMigrated') on duplicate key update last_update=NOW(), value=VALUES(value);
insert /* gh-ost */ into `shop`.`_orders_ghc` (id, hint, value) values (NULLIF(0, 0), 'heartbeat', '2024-03-01T10:00:00.000000001Z') on duplicate key update last_update=NOW(), value=VALUES(value);
-- A chunk, between changes of the original which gh-ost reads in the binlog and plays again
insert /* gh-ost `shop`.`orders` */ ignore into `shop`.`_orders_gho` (`id`, `client`, `total`, `state`, `at`) (select `id`, `customer`, `total`, `state`, `at` from `shop`.`orders` force index (`PRIMARY`) where (((`id` > _binary'1') or ((`id` = _binary'1'))) and ((`id` < _binary'25') or ((`id` = _binary'25')))) lock in share mode);
UPDATE orders SET state = 'sent', total = total + 0.5 WHERE id IN (3, 40);
DELETE FROM orders WHERE id IN (7, 50);
INSERT INTO orders (customer, total, at) VALUES ('late', 9.99, '2024-03-01 00:00:00.123');
SET SESSION binlog_row_image = MINIMAL;
START TRANSACTION;
SET SESSION time_zone = '+00:00', sql_mode = CONCAT(@@session.sql_mode, ',NO_AUTO_VALUE_ON_ZERO');
replace /* gh-ost `shop`.`_orders_gho` */ into `shop`.`_orders_gho` (`id`, `client`, `total`, `state`, `at`) values (61, convert('late' using utf8mb4), 9.99, ELT(1, 'new', 'paid', 'sent'), '2024-03-01 00:00:00.123');
update /* gh-ost `shop`.`_orders_gho` */ `shop`.`_orders_gho` set `id`=3, `client`=convert('c3' using utf8mb4), `total`=4.25, `state`=ELT(3, 'new', 'paid', 'sent'), `at`='2024-02-28 23:59:03.000' where ((`id` = 3));
update /* gh-ost `shop`.`_orders_gho` */ `shop`.`_orders_gho` set `id`=40, `total`=50.50, `state`='sent' where ((`id` = 40));
delete /* gh-ost `shop`.`_orders_gho` */ from `shop`.`_orders_gho` where ((`id` = 7));
delete /* gh-ost `shop`.`_orders_gho` */ from `shop`.`_orders_gho` where ((`id` = 50));
COMMIT;
-- @mark half_copied
insert /* gh-ost */ into `shop`.`_orders_ghc` (id, hint, value) values (NULLIF(0, 0), 'heartbeat', '2024-03-01T10:00:01.000000001Z') on duplicate key update last_update=NOW(), value=VALUES(value);
insert /* gh-ost `shop`.`orders` */ ignore into `shop`.`_orders_gho` (`id`, `client`, `total`, `state`, `at`) (select `id`, `customer`, `total`, `state`, `at` from `shop`.`orders` force index (`PRIMARY`) where (((`id` > _binary'25')) and ((`id` < _binary'61') or ((`id` = _binary'61')))) lock in share mode);
-- The cut-over: a table in the way of the swap until the locks are right, then both renames at once
create /* gh-ost */ table `shop`.`_orders_del` (id int auto_increment primary key) engine=InnoDB comment='ghost-cut-over-sentry';
insert /* gh-ost */ into `shop`.`_orders_ghc` (id, hint, value) values (NULLIF(2, 0), 'state', 'AllEventsUpToLockProcessed:1709287200') on duplicate key update last_update=NOW(), value=VALUES(value);
-- @mark before_swap
drop /* gh-ost */ table if exists `shop`.`_orders_del`;
rename /* gh-ost */ table `shop`.`orders` to `shop`.`_orders_del`, `shop`.`_orders_gho` to `shop`.`orders`;
UPDATE orders SET currency = 'USD', state = 'a refund' WHERE id BETWEEN 10 AND 12;
INSERT INTO orders (client, total, at) VALUES ('after', 1, '2024-03-02');
-- @mark swapped
drop /* gh-ost */ table if exists `shop`.`_orders_ghc`;
drop /* gh-ost */ table if exists `shop`.`_orders_del`;
DELETE FROM orders WHERE id = 1;
