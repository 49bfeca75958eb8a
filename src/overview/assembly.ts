/** Assembles the overview wing: what people see of all other wings at once. */
import type { ProcessContext } from "#platform/context/process-context.ts";
import type { Endpoint, Resource } from "#platform/http/endpoint.ts";
import { limits } from "#platform/limits/limits.ts";
import { searchEndpoints } from "./search/endpoints.ts";
import { EverythingSearch } from "./search/search-everything.ts";
import { streamEndpoints } from "./stream/endpoints.ts";
import { LiveStreams, type ReadAccess } from "./stream/live-streams.ts";
import { topicSources } from "./stream/topic-sources.ts";
import { TopicRights } from "./stream/topics.ts";

interface OverviewHooks {
  /** The nouns that have jobs. */
  readonly jobResources: readonly Resource[];
  readonly readAccess: ReadAccess;
}

/** @param context `database` is that of requests */
export function overviewEndpoints(
  context: ProcessContext,
  { jobResources, readAccess }: OverviewHooks,
): Endpoint[] {
  const { database: db, clock, log } = context;
  const rights = new TopicRights(jobResources);
  const sources = topicSources({ db, clock });
  const streams = new LiveStreams({ sources, rights, readAccess, limits, log });
  return [
    ...streamEndpoints({ db, clock, rights, streams }),
    ...searchEndpoints({ search: new EverythingSearch(db) }),
  ];
}
