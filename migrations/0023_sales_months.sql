-- What the days of a month have together: a year has twelve of them.
CREATE TABLE sales_months (
    month DATE NOT NULL,
    type TEXT NOT NULL,
    method TEXT NOT NULL,
    bookings BIGINT NOT NULL,
    passengers BIGINT NOT NULL,
    gross BIGINT NOT NULL,
    discount BIGINT NOT NULL,
    tax BIGINT NOT NULL,
    commission BIGINT NOT NULL,
    partner_net BIGINT NOT NULL,
    refunds BIGINT NOT NULL,
    PRIMARY KEY (month, type, method)
);
