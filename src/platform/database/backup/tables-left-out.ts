/** Tables whose rows are not in a backup, each with the reason. test/schema.test.ts compares the list with the catalogue. */
export const tablesLeftOut: Readonly<Record<string, string>> = {
  account_links:
    "they work once, and one that was used after the backup would work again; people ask for another",
  attempt_buckets: "limits of sign-in attempts, which fill again within minutes",
  content_previews: "not logged by PostgreSQL, and kept for minutes",
  delivery_addresses: "source addresses of running delivery processes",
  job_runners: "running processes",
  schema_migrations: "a restore makes the schema by running the migrations",
  secret_key_rings: "running processes",
  sending_hold: "a restore always holds the sending",
  sessions: "a session that was ended after the backup would be valid again; people sign in again",
  sign_in_challenges: "they last for minutes",
};
