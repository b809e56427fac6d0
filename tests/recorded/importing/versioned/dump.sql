/*M!999999\- enable the sandbox mode */ 
-- MariaDB dump 10.19  Distrib 10.11.19-MariaDB, for debian-linux-gnu (x86_64)
--
-- Host: 127.0.0.1    Database: sv
-- ------------------------------------------------------
-- Server version	10.11.19-MariaDB-0+deb12u1-log

/*!40101 SET @OLD_CHARACTER_SET_CLIENT=@@CHARACTER_SET_CLIENT */;
/*!40101 SET @OLD_CHARACTER_SET_RESULTS=@@CHARACTER_SET_RESULTS */;
/*!40101 SET @OLD_COLLATION_CONNECTION=@@COLLATION_CONNECTION */;
/*!40101 SET NAMES utf8mb4 */;
/*!40103 SET @OLD_TIME_ZONE=@@TIME_ZONE */;
/*!40103 SET TIME_ZONE='+00:00' */;
/*!40014 SET @OLD_UNIQUE_CHECKS=@@UNIQUE_CHECKS, UNIQUE_CHECKS=0 */;
/*!40014 SET @OLD_FOREIGN_KEY_CHECKS=@@FOREIGN_KEY_CHECKS, FOREIGN_KEY_CHECKS=0 */;
/*!40101 SET @OLD_SQL_MODE=@@SQL_MODE, SQL_MODE='NO_AUTO_VALUE_ON_ZERO' */;
/*!40111 SET @OLD_SQL_NOTES=@@SQL_NOTES, SQL_NOTES=0 */;
CHANGE MASTER TO MASTER_USE_GTID=slave_pos;

-- A corresponding to the above master-data CHANGE-MASTER settings to the slave gtid state is printed later in the file.

--
-- Alternately, following is the position of the binary logging from SHOW MASTER STATUS at point of backup.
-- Use this when creating a slave of the master server where the backup was made.
-- The new server will be connecting to the master server where the backup was taken.
--

-- CHANGE MASTER TO MASTER_LOG_FILE='binlog.000001', MASTER_LOG_POS=7843;

--
-- Current Database: `sv`
--

CREATE DATABASE /*!32312 IF NOT EXISTS*/ `sv` /*!40100 DEFAULT CHARACTER SET latin1 COLLATE latin1_swedish_ci */;

USE `sv`;

--
-- Table structure for table `hidden_none`
--

DROP TABLE IF EXISTS `hidden_none`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `hidden_none` (
  `a` int(11) DEFAULT NULL,
  `b` varchar(9) DEFAULT NULL
) ENGINE=InnoDB DEFAULT CHARSET=latin1 COLLATE=latin1_swedish_ci WITH SYSTEM VERSIONING;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `hidden_none`
--

/*M!101100 SET @old_system_versioning_insert_history=@@session.system_versioning_insert_history, @@session.system_versioning_insert_history=1 */;
LOCK TABLES `hidden_none` WRITE;
/*!40000 ALTER TABLE `hidden_none` DISABLE KEYS */;
INSERT INTO `hidden_none` (`a`, `b`, row_start, row_end) VALUES (3,'c','2026-11-21 18:28:06.357349','2038-01-19 03:14:07.999999'),
(1,'a2','2026-11-21 18:28:06.359174','2038-01-19 03:14:07.999999'),
(1,'a','2026-11-21 18:28:06.357349','2038-01-19 03:14:07.999999'),
(2,'b','2026-11-21 18:28:06.357349','2026-11-21 18:28:06.359260'),
(NULL,NULL,'2026-11-21 18:28:06.357349','2038-01-19 03:14:07.999999'),
(1,'a','2026-11-21 18:28:06.357349','2026-11-21 18:28:06.359174');
/*!40000 ALTER TABLE `hidden_none` ENABLE KEYS */;
UNLOCK TABLES;
/*M!101100 SET system_versioning_insert_history=@old_system_versioning_insert_history */;

--
-- Table structure for table `hidden_pk`
--

DROP TABLE IF EXISTS `hidden_pk`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `hidden_pk` (
  `id` int(11) NOT NULL,
  `v` varchar(20) DEFAULT NULL,
  `w` int(11) DEFAULT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `w` (`w`)
) ENGINE=InnoDB DEFAULT CHARSET=latin1 COLLATE=latin1_swedish_ci WITH SYSTEM VERSIONING;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `hidden_pk`
--

/*M!101100 SET @old_system_versioning_insert_history=@@session.system_versioning_insert_history, @@session.system_versioning_insert_history=1 */;
LOCK TABLES `hidden_pk` WRITE;
/*!40000 ALTER TABLE `hidden_pk` DISABLE KEYS */;
INSERT INTO `hidden_pk` (`id`, `v`, `w`, row_start, row_end) VALUES (1,'a',10,'2026-11-21 18:28:06.356589','2026-11-21 18:28:06.358709'),
(1,'a2',10,'2026-11-21 18:28:06.358709','2026-11-21 18:28:06.358975'),
(1,'a3',10,'2026-11-21 18:28:06.358975','2038-01-19 03:14:07.999999'),
(2,'b',20,'2026-11-21 18:28:06.356589','2026-11-21 18:28:06.359049'),
(2,'back',20,'2026-11-21 18:28:06.359118','2038-01-19 03:14:07.999999'),
(3,'c',30,'2026-11-21 18:28:06.356589','2038-01-19 03:14:07.999999');
/*!40000 ALTER TABLE `hidden_pk` ENABLE KEYS */;
UNLOCK TABLES;
/*M!101100 SET system_versioning_insert_history=@old_system_versioning_insert_history */;

--
-- Table structure for table `named_none`
--

DROP TABLE IF EXISTS `named_none`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `named_none` (
  `s` timestamp(6) GENERATED ALWAYS AS ROW START INVISIBLE,
  `a` int(11) DEFAULT NULL,
  `x` varbinary(4) DEFAULT NULL,
  `e` timestamp(6) GENERATED ALWAYS AS ROW END INVISIBLE,
  PERIOD FOR SYSTEM_TIME (`s`, `e`)
) ENGINE=InnoDB DEFAULT CHARSET=latin1 COLLATE=latin1_swedish_ci WITH SYSTEM VERSIONING;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `named_none`
--

/*M!101100 SET @old_system_versioning_insert_history=@@session.system_versioning_insert_history, @@session.system_versioning_insert_history=1 */;
LOCK TABLES `named_none` WRITE;
/*!40000 ALTER TABLE `named_none` DISABLE KEYS */;
INSERT INTO `named_none` (`s`, `a`, `x`, `e`) VALUES ('2026-11-21 18:28:06.359530',1,'A','2038-01-19 03:14:07.999999'),
('2026-11-21 18:28:06.358119',2,'\0','2026-11-21 18:28:06.359603'),
('2026-11-21 18:28:06.358119',2,'\0','2038-01-19 03:14:07.999999'),
('2026-11-21 18:28:06.358119',1,'ÿ','2026-11-21 18:28:06.359530');
/*!40000 ALTER TABLE `named_none` ENABLE KEYS */;
UNLOCK TABLES;
/*M!101100 SET system_versioning_insert_history=@old_system_versioning_insert_history */;

--
-- Table structure for table `named_pk`
--

DROP TABLE IF EXISTS `named_pk`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `named_pk` (
  `id` int(11) NOT NULL,
  `v` varchar(20) DEFAULT NULL,
  `s` timestamp(6) GENERATED ALWAYS AS ROW START,
  `e` timestamp(6) GENERATED ALWAYS AS ROW END,
  `g` int(11) GENERATED ALWAYS AS (`id` * 2) STORED,
  PRIMARY KEY (`id`,`e`),
  PERIOD FOR SYSTEM_TIME (`s`, `e`)
) ENGINE=InnoDB DEFAULT CHARSET=latin1 COLLATE=latin1_swedish_ci WITH SYSTEM VERSIONING;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `named_pk`
--

/*M!101100 SET @old_system_versioning_insert_history=@@session.system_versioning_insert_history, @@session.system_versioning_insert_history=1 */;
LOCK TABLES `named_pk` WRITE;
/*!40000 ALTER TABLE `named_pk` DISABLE KEYS */;
INSERT INTO `named_pk` VALUES
(-2,'b','2026-11-21 18:28:06.357837','2026-11-21 18:28:06.359479',-4),
(1,'a','2026-11-21 18:28:06.357837','2026-11-21 18:28:06.359315',2),
(1,'a2','2026-11-21 18:28:06.359315','2038-01-19 03:14:07.999999',2),
(3,'c','2026-11-21 18:28:06.357837','2026-11-21 18:28:06.359416',6),
(7,'c','2026-11-21 18:28:06.359416','2038-01-19 03:14:07.999999',14);
/*!40000 ALTER TABLE `named_pk` ENABLE KEYS */;
UNLOCK TABLES;
/*M!101100 SET system_versioning_insert_history=@old_system_versioning_insert_history */;

--
-- Table structure for table `never`
--

DROP TABLE IF EXISTS `never`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `never` (
  `a` int(11) NOT NULL,
  PRIMARY KEY (`a`)
) ENGINE=InnoDB DEFAULT CHARSET=latin1 COLLATE=latin1_swedish_ci WITH SYSTEM VERSIONING;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `never`
--

/*M!101100 SET @old_system_versioning_insert_history=@@session.system_versioning_insert_history, @@session.system_versioning_insert_history=1 */;
LOCK TABLES `never` WRITE;
/*!40000 ALTER TABLE `never` DISABLE KEYS */;
/*!40000 ALTER TABLE `never` ENABLE KEYS */;
UNLOCK TABLES;
/*M!101100 SET system_versioning_insert_history=@old_system_versioning_insert_history */;

--
-- Table structure for table `parted`
--

DROP TABLE IF EXISTS `parted`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `parted` (
  `a` int(11) NOT NULL,
  `b` int(11) DEFAULT NULL,
  PRIMARY KEY (`a`)
) ENGINE=InnoDB DEFAULT CHARSET=latin1 COLLATE=latin1_swedish_ci WITH SYSTEM VERSIONING
 PARTITION BY SYSTEM_TIME 
(PARTITION `h` HISTORY ENGINE = InnoDB,
 PARTITION `n` CURRENT ENGINE = InnoDB);
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `parted`
--

/*M!101100 SET @old_system_versioning_insert_history=@@session.system_versioning_insert_history, @@session.system_versioning_insert_history=1 */;
LOCK TABLES `parted` WRITE;
/*!40000 ALTER TABLE `parted` DISABLE KEYS */;
INSERT INTO `parted` (`a`, `b`, row_start, row_end) VALUES (1,1,'2026-11-21 18:28:06.358310','2026-11-21 18:28:06.359653'),
(2,2,'2026-11-21 18:28:06.358310','2026-11-21 18:28:06.359747'),
(1,11,'2026-11-21 18:28:06.359653','2038-01-19 03:14:07.999999');
/*!40000 ALTER TABLE `parted` ENABLE KEYS */;
UNLOCK TABLES;
/*M!101100 SET system_versioning_insert_history=@old_system_versioning_insert_history */;

--
-- Table structure for table `plain`
--

DROP TABLE IF EXISTS `plain`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `plain` (
  `a` int(11) NOT NULL,
  `b` timestamp(6) NULL DEFAULT NULL,
  PRIMARY KEY (`a`)
) ENGINE=InnoDB DEFAULT CHARSET=latin1 COLLATE=latin1_swedish_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `plain`
--

LOCK TABLES `plain` WRITE;
/*!40000 ALTER TABLE `plain` DISABLE KEYS */;
INSERT INTO `plain` VALUES
(1,'2024-01-01 01:02:03.456789');
/*!40000 ALTER TABLE `plain` ENABLE KEYS */;
UNLOCK TABLES;

-- The deferred gtid setting for slave corresponding to the master-data CHANGE-MASTER follows

-- Preferably use GTID to start replication from GTID position:

SET GLOBAL gtid_slave_pos='0-33341-27';
/*!40103 SET TIME_ZONE=@OLD_TIME_ZONE */;

/*!40101 SET SQL_MODE=@OLD_SQL_MODE */;
/*!40014 SET FOREIGN_KEY_CHECKS=@OLD_FOREIGN_KEY_CHECKS */;
/*!40014 SET UNIQUE_CHECKS=@OLD_UNIQUE_CHECKS */;
/*!40101 SET CHARACTER_SET_CLIENT=@OLD_CHARACTER_SET_CLIENT */;
/*!40101 SET CHARACTER_SET_RESULTS=@OLD_CHARACTER_SET_RESULTS */;
/*!40101 SET COLLATION_CONNECTION=@OLD_COLLATION_CONNECTION */;
/*!40111 SET SQL_NOTES=@OLD_SQL_NOTES */;

-- Dump completed on 2026-11-21 18:28:06
