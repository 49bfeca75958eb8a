/** Searches all kinds of resources that a caller may read, each for a limited time. */
import type { Sql } from "sql-template-tag";
import { mailingLists } from "#audience/mailing-lists/permission.ts";
import { segmentsResource } from "#audience/segments/segment.ts";
import { limitStatements } from "#audience/subscribers/filtered-people-store.ts";
import { subscribers } from "#audience/subscribers/permission.ts";
import { suppressionLists } from "#audience/suppression-lists/permission.ts";
import { sendingDomains } from "#identity/sending-domains/permission.ts";
import { reports } from "#messages/permission.ts";
import { createWorkspaceLimiter, QUERY_BOUNDS } from "#platform/concurrency.ts";
import type { Database, Transaction } from "#platform/database/pool.ts";
import { missingPermissions } from "#platform/http/authenticate.ts";
import { need, permissionOf, type Resource } from "#platform/http/endpoint.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { autoresponders } from "#sending/autoresponders/autoresponder.ts";
import { campaigns } from "#sending/campaigns/campaign.ts";
import { webhooksResource } from "#webhooks/webhook.ts";
import { apiKeysResource } from "#workspace/api-keys/api-key.ts";
import * as find from "./find-store.ts";
import { searchTermOf } from "./search-term.ts";

/** In the order of answers. */
export const searchKinds = [
  "subscriber",
  "campaign",
  "message",
  "mailing_list",
  "segment",
  "sending_domain",
  "autoresponder",
  "suppression_entry",
  "api_key",
  "webhook",
] as const;
type SearchKind = (typeof searchKinds)[number];

interface Searched {
  readonly resource: Resource;
  readonly find: find.FindSql;
  /** The path of the API that has the resource. */
  readonly pathOf: (row: find.FoundRow) => string;
}

const searched: Readonly<Record<SearchKind, Searched>> = {
  subscriber: { resource: subscribers, find: find.findPeople, pathOf: ({ id }) => `subscribers/${id}` },
  campaign: { resource: campaigns, find: find.findCampaigns, pathOf: ({ id }) => `campaigns/${id}` },
  message: { resource: reports, find: find.findMessagesFor, pathOf: ({ id }) => `messages/${id}` },
  mailing_list: {
    resource: mailingLists,
    find: find.findMailingLists,
    pathOf: ({ id }) => `mailing-lists/${id}`,
  },
  segment: {
    resource: segmentsResource,
    find: find.findSegments,
    pathOf: ({ id, parent_id }) => `mailing-lists/${parent_id}/segments/${id}`,
  },
  sending_domain: {
    resource: sendingDomains,
    find: find.findSendingDomains,
    pathOf: ({ id }) => `sending-domains/${id}/dns-status`,
  },
  autoresponder: {
    resource: autoresponders,
    find: find.findAutoresponders,
    pathOf: ({ id }) => `autoresponders/${id}`,
  },
  suppression_entry: {
    resource: suppressionLists,
    find: find.findSuppressionEntries,
    pathOf: ({ parent_id, title }) =>
      `suppression-lists/${parent_id}/entries?search=${encodeURIComponent(title)}`,
  },
  api_key: { resource: apiKeysResource, find: find.findApiKeys, pathOf: ({ id }) => `api-keys/${id}` },
  webhook: { resource: webhooksResource, find: find.findWebhooks, pathOf: ({ id }) => `webhooks/${id}` },
};

/**
 * Kinds that are searched in one statement: few, short tables. Messages and people follow, each alone: they take the
 * longest, and do not use the time of the others.
 */
const isLarge = (kind: SearchKind) => kind === "message" || kind === "subscriber";

/** The time of one statement, and of all of them together. */
const STATEMENT_MS = 200;
const WHOLE_MS = 1_000;
export interface SearchResult {
  readonly kind: SearchKind;
  readonly id: string;
  readonly title: string;
  readonly subtitle: string | null;
  readonly status: string | null;
  readonly path: string;
  readonly is_exact: boolean;
}

export interface SearchAnswer {
  readonly results: readonly SearchResult[];
  readonly kinds: readonly SearchKind[];
  readonly incomplete: readonly SearchKind[];
}

export class EverythingSearch {
  readonly #db: Database;
  readonly #takeTurn = createWorkspaceLimiter(
    QUERY_BOUNDS,
    "Too many searches of this workspace are waiting: ask for fewer at the same time",
  );

  constructor(db: Database) {
    this.#db = db;
  }

  /**
   * At most MOST_OF_KIND resources of each kind that these permissions may read. Exact matches come first.
   * @throws ApiError RATE_LIMIT_EXCEEDED when too many searches of the workspace wait
   */
  async search(
    workspaceId: WorkspaceId,
    permissions: readonly string[],
    text: string,
  ): Promise<SearchAnswer> {
    const mayRead = (kind: SearchKind) =>
      missingPermissions(permissions, [permissionOf(need(searched[kind].resource, "read"))]).length === 0;
    const kinds = searchKinds.filter(mayRead);
    if (kinds.length === 0) return { results: [], kinds, incomplete: [] };
    const term = searchTermOf(text);
    const found = await this.#takeTurn(workspaceId, () =>
      this.#db.transaction((tx) => findAll(tx, kinds, (kind) => searched[kind].find(workspaceId, term))),
    );
    const results = kinds.flatMap((kind) => found.get(kind) ?? []);
    return {
      results: [
        ...results.filter(({ is_exact }) => is_exact),
        ...results.filter(({ is_exact }) => !is_exact),
      ],
      kinds,
      incomplete: kinds.filter((kind) => !found.has(kind)),
    };
  }
}

/**
 * The results of each kind that was searched in time.
 * @param statementOf the statement of a kind; undefined if the text cannot find it
 */
async function findAll(
  tx: Transaction,
  kinds: readonly SearchKind[],
  statementOf: (kind: SearchKind) => Sql | undefined,
): Promise<ReadonlyMap<SearchKind, readonly SearchResult[]>> {
  const found = new Map<SearchKind, readonly SearchResult[]>();
  const end = performance.now() + WHOLE_MS;
  await limitStatements(tx, STATEMENT_MS);
  const look = async (together: readonly SearchKind[]): Promise<boolean> => {
    if (performance.now() > end) return false;
    const statements = new Map<SearchKind, Sql>();
    for (const kind of together) {
      const statement = statementOf(kind);
      if (statement === undefined) found.set(kind, []);
      else statements.set(kind, statement);
    }
    if (statements.size === 0) return true;
    const rows = await find.lookInTime(tx, () => find.findTogether(tx, statements));
    rows?.forEach((some, kind) => {
      found.set(
        kind,
        some.map((row) => resultOf(kind, row)),
      );
    });
    return rows !== undefined;
  };
  const small = kinds.filter((kind) => !isLarge(kind));
  // If one of them was too slow, the others are asked alone.
  if (!(await look(small))) for (const kind of small) await look([kind]);
  for (const kind of ["message", "subscriber"] as const) if (kinds.includes(kind)) await look([kind]);
  return found;
}

function resultOf(kind: SearchKind, row: find.FoundRow): SearchResult {
  const { id, title, subtitle, status, is_exact } = row;
  return { kind, id, title, subtitle, status, path: `/api/v1/${searched[kind].pathOf(row)}`, is_exact };
}
