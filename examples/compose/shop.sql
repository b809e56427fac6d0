-- What the server begins with: a user who may read the log, and a shop in which something is sold every second.
CREATE USER repl@'%' IDENTIFIED BY 'repl-secret';
GRANT REPLICATION SLAVE, REPLICATION CLIENT ON *.* TO repl@'%';

CREATE TABLE products (
  sku VARCHAR(20) PRIMARY KEY,
  price DECIMAL(8,2) NOT NULL,
  stock INT NOT NULL
);
CREATE TABLE orders (
  id BIGINT AUTO_INCREMENT PRIMARY KEY,
  sku VARCHAR(20) NOT NULL,
  price DECIMAL(8,2) NOT NULL,
  ordered TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
  FOREIGN KEY (sku) REFERENCES products (sku)
);
INSERT INTO products VALUES ('mug', 8.90, 1000000), ('pen', 1.20, 1000000), ('map', 12.00, 1000000);

DELIMITER //
CREATE EVENT sell ON SCHEDULE EVERY 1 SECOND DO
BEGIN
  SELECT sku INTO @sku FROM products ORDER BY RAND() LIMIT 1;
  START TRANSACTION;
  UPDATE products SET stock = stock - 1 WHERE sku = @sku;
  INSERT INTO orders (sku, price) SELECT sku, price FROM products WHERE sku = @sku;
  COMMIT;
END//
DELIMITER ;
