-- Which SECRET_KEY the installation has, as a one-way fingerprint: a machine with another one must not start, for the
-- links and signatures of its mail would be worth nothing. One row for the installation.
create table secret_key_fingerprint (
  only_row boolean primary key default true check (only_row),
  fingerprint bytea not null
);
