-- A value that only the right secret key decrypts: a start with another key is refused.
CREATE TABLE secret_key_check (
    only_one INTEGER PRIMARY KEY CHECK (only_one = 1),
    sealed TEXT NOT NULL
);
