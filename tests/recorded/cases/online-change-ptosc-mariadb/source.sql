CREATE DATABASE shop CHARACTER SET utf8mb4;
USE shop;
CREATE TABLE `orders` (`id` int(11) NOT NULL AUTO_INCREMENT, `customer` varchar(40) NOT NULL, `total` decimal(8,2) NOT NULL, `paid` tinyint(1) DEFAULT NULL, `at` datetime NOT NULL, PRIMARY KEY (`id`), KEY `customer` (`customer`)) ENGINE=InnoDB DEFAULT CHARSET=latin1;
INSERT INTO orders (customer, total, paid, at) SELECT CONCAT('c', seq % 7), seq * 1.25, seq % 2, TIMESTAMP('2024-02-28 23:59:00') + INTERVAL seq SECOND FROM seq_1_to_60;
-- @mark original
CREATE TABLE `shop`.`_orders_new` (
  `id` int(11) NOT NULL AUTO_INCREMENT,
  `customer` varchar(40) NOT NULL,
  `total` decimal(8,2) NOT NULL,
  `paid` tinyint(1) DEFAULT NULL,
  `at` datetime NOT NULL,
  PRIMARY KEY (`id`),
  KEY `customer` (`customer`)
) ENGINE=InnoDB DEFAULT CHARSET=latin1;
ALTER TABLE `shop`.`_orders_new` CONVERT TO CHARACTER SET utf8mb4, MODIFY id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT, MODIFY at DATETIME(3) NOT NULL, ADD COLUMN region VARCHAR(10) NOT NULL DEFAULT 'eu' AFTER customer, ADD UNIQUE KEY (at, id);
CREATE TRIGGER `pt_osc_shop_orders_del` AFTER DELETE ON `shop`.`orders` FOR EACH ROW BEGIN DECLARE CONTINUE HANDLER FOR 1146 begin end; DELETE IGNORE FROM `shop`.`_orders_new` WHERE `shop`.`_orders_new`.`id` <=> OLD.`id`; END;
CREATE TRIGGER `pt_osc_shop_orders_upd` AFTER UPDATE ON `shop`.`orders` FOR EACH ROW BEGIN DECLARE CONTINUE HANDLER FOR 1146 begin end; DELETE IGNORE FROM `shop`.`_orders_new` WHERE !(OLD.`id` <=> NEW.`id`) AND `shop`.`_orders_new`.`id` <=> OLD.`id`; REPLACE INTO `shop`.`_orders_new` (`id`, `customer`, `total`, `paid`, `at`) VALUES (NEW.`id`, NEW.`customer`, NEW.`total`, NEW.`paid`, NEW.`at`); END;
CREATE TRIGGER `pt_osc_shop_orders_ins` AFTER INSERT ON `shop`.`orders` FOR EACH ROW BEGIN DECLARE CONTINUE HANDLER FOR 1146 begin end; REPLACE INTO `shop`.`_orders_new` (`id`, `customer`, `total`, `paid`, `at`) VALUES (NEW.`id`, NEW.`customer`, NEW.`total`, NEW.`paid`, NEW.`at`);END;
INSERT LOW_PRIORITY IGNORE INTO `shop`.`_orders_new` (`id`, `customer`, `total`, `paid`, `at`) SELECT `id`, `customer`, `total`, `paid`, `at` FROM `shop`.`orders` FORCE INDEX(`PRIMARY`) WHERE ((`id` >= '1')) AND ((`id` <= '30')) LOCK IN SHARE MODE /*pt-online-schema-change 4711 copy nibble*/;
UPDATE orders SET total = total + 0.5, paid = 1 WHERE id IN (3, 40);
UPDATE orders SET id = 100 WHERE id = 8;
DELETE FROM orders WHERE id IN (7, 50);
INSERT INTO orders (customer, total, at) VALUES ('lät', 9.99, '2024-03-01');
-- @mark half_copied
INSERT LOW_PRIORITY IGNORE INTO `shop`.`_orders_new` (`id`, `customer`, `total`, `paid`, `at`) SELECT `id`, `customer`, `total`, `paid`, `at` FROM `shop`.`orders` FORCE INDEX(`PRIMARY`) WHERE ((`id` >= '31')) AND ((`id` <= '101')) LOCK IN SHARE MODE /*pt-online-schema-change 4711 copy nibble*/;
ANALYZE TABLE `shop`.`_orders_new` /* pt-online-schema-change */;
-- @mark before_swap
RENAME TABLE `shop`.`orders` TO `shop`.`_orders_old`, `shop`.`_orders_new` TO `shop`.`orders`;
INSERT INTO orders (customer, total, at, region) VALUES ('日本', 1, '2024-03-02 00:00:00.125', 'jp');
-- @mark swapped
DROP TABLE IF EXISTS `shop`.`_orders_old`;
DROP TRIGGER IF EXISTS `shop`.`pt_osc_shop_orders_del`;
DROP TRIGGER IF EXISTS `shop`.`pt_osc_shop_orders_upd`;
DROP TRIGGER IF EXISTS `shop`.`pt_osc_shop_orders_ins`;
UPDATE orders SET region = 'uk', id = 18446744073709551610 WHERE customer = 'c5' AND total > 70 LIMIT 1;
