INSERT INTO sales_months (month, type, method, bookings, passengers, gross, discount, tax,
    commission, partner_net, refunds)
SELECT CAST(date_trunc('month', day) AS DATE), type, method,
    CAST(SUM(bookings) AS BIGINT),
    CAST(SUM(passengers) AS BIGINT),
    CAST(SUM(gross) AS BIGINT),
    CAST(SUM(discount) AS BIGINT),
    CAST(SUM(tax) AS BIGINT),
    CAST(SUM(commission) AS BIGINT),
    CAST(SUM(partner_net) AS BIGINT),
    CAST(SUM(refunds) AS BIGINT)
FROM sales_days GROUP BY 1, 2, 3;
