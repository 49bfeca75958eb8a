/**
 * Huge pages for the memory that PostgreSQL's processes share. It takes them by itself where the system has enough of them;
 * that has to be set up by whoever runs the machine, who finds in the log of a start with LOG_LEVEL=debug how many it takes.
 */
import type pg from "pg";
import type { Log } from "#platform/log/log.ts";

/** 1 GiB: with less there is not much to look through. */
const LEAST_PAGES = 512;

/** Says in the log how many pages it would take, where there are none. */
export async function adviseHugePages(client: Pick<pg.Client, "query">, log: Log): Promise<void> {
  const { rows } = await client.query<{ status: string; wanted: number }>(`
    select current_setting('huge_pages_status') as status,
      current_setting('shared_memory_size_in_huge_pages')::int as wanted`);
  const [memory] = rows;
  if (memory?.status !== "off" || memory.wanted < LEAST_PAGES) return;
  log.debug(
    { nr_hugepages: memory.wanted },
    "PostgreSQL has no huge pages: with them it looks through large lists in half the time (docs/operations.md)",
  );
}
