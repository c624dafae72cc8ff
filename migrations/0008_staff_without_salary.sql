-- NULL: no salary is recorded.
ALTER TABLE staff ADD COLUMN monthly_salary BIGINT CHECK (monthly_salary >= 0);
UPDATE staff SET monthly_salary = salary;
ALTER TABLE staff DROP COLUMN salary;
ALTER TABLE staff RENAME COLUMN monthly_salary TO salary;
