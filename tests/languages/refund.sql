-- é🙂
CREATE TABLE shop.orders (
    id integer PRIMARY KEY,
    name text DEFAULT 'a  b'
);

CREATE TABLE IF NOT EXISTS refunds (id integer);

CREATE VIEW open_orders AS SELECT * FROM orders;

/* a block */
CREATE OR REPLACE FUNCTION refund(amount integer) RETURNS boolean AS $$
BEGIN
    RETURN amount > 0;
END;
$$ LANGUAGE plpgsql;

CREATE MATERIALIZED VIEW totals AS SELECT count(*) FROM refunds;

CREATE TYPE state AS ENUM ('open', 'closed');

CREATE INDEX by_name ON orders (name);

CREATE PROCEDURE ring() LANGUAGE sql AS $$ SELECT 1 $$;

CREATE TRIGGER touched BEFORE UPDATE ON orders FOR EACH ROW EXECUTE FUNCTION touch();

CREATE TRIGGER counted AFTER INSERT ON refunds FOR EACH ROW
BEGIN
    UPDATE totals SET n = CASE WHEN n IS NULL THEN 1 ELSE n + 1 END;
    IF n > 5 THEN
        DELETE FROM old;
    END IF;
END;

INSERT INTO orders VALUES (1, 'CREATE TABLE ghost (id int);');

CREATE TABLE "Quoted Name"."T" (id int)
GO
CREATE TABLE [dbo].[last] (id int)
