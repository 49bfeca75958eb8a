/**
 * Token buckets of attempts, in the database, so that they count over all processes and restarts. A bucket is one time: when
 * it will be full (the generic cell rate algorithm, as platform/http/auth/token-buckets.ts).
 */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";

/** How many tokens a bucket holds, and how long one takes to come back. */
export interface BucketSize {
  readonly most: number;
  readonly tokenMs: number;
}

const seconds = (ms: number) => sql`make_interval(secs => ${ms / 1_000})`;

/** Takes a token. @returns when the bucket will be full again; undefined when it was empty, and nothing was taken */
export async function takeToken(
  db: Queryable,
  bucket: string,
  { most, tokenMs }: BucketSize,
  now: Date,
): Promise<Date | undefined> {
  const row = await db.row<{ full_at: Date }>(sql`
    insert into attempt_buckets as b (bucket, full_at)
    values (${bucket}, ${now}::timestamptz + ${seconds(tokenMs)})
    on conflict (bucket) do update set full_at = greatest(b.full_at, ${now}) + ${seconds(tokenMs)}
    where greatest(b.full_at, ${now}) + ${seconds(tokenMs)} <= ${now}::timestamptz + ${seconds(most * tokenMs)}
    returning full_at`);
  return row?.full_at;
}

/** Puts a token back. */
export async function giveTokenBack(db: Queryable, bucket: string, { tokenMs }: BucketSize): Promise<void> {
  await db.run(
    sql`update attempt_buckets set full_at = full_at - ${seconds(tokenMs)} where bucket = ${bucket}`,
  );
}

/** When the bucket will be full. */
export async function findBucketFullAt(db: Queryable, bucket: string): Promise<Date | undefined> {
  const row = await db.row<{ full_at: Date }>(
    sql`select full_at from attempt_buckets where bucket = ${bucket}`,
  );
  return row?.full_at;
}

/** Fills the bucket. */
export async function removeBucket(db: Queryable, bucket: string): Promise<void> {
  await db.run(sql`delete from attempt_buckets where bucket = ${bucket}`);
}

/** Deletes up to `most` buckets that are full. @returns how many */
export function removeFullBuckets(db: Queryable, now: Date, most: number): Promise<number> {
  return db.run(sql`
    delete from attempt_buckets where bucket in (
      select bucket from attempt_buckets where full_at <= ${now} limit ${most})`);
}
