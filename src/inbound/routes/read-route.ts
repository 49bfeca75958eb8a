/** Validates an inbound route from a request body, with the stored values of the fields that the body omits. */
import type { Queryable } from "#platform/database/pool.ts";
import { invalid } from "#platform/errors.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { type AddressPattern, readPattern } from "./address-pattern.ts";
import { type InboundRouteRow, isProvenDomain, type SpamAction } from "./store.ts";

/** Null counts as omitted, except for the threshold. */
export interface RouteInput {
  readonly pattern?: string | null;
  readonly priority?: number | null;
  readonly webhook?: boolean | null;
  readonly keep?: boolean | null;
  readonly max_bytes?: number | null;
  readonly spam_threshold?: number | null;
  readonly spam_action?: SpamAction | null;
  readonly is_active?: boolean | null;
}

interface Surroundings {
  readonly tx: Queryable;
  readonly workspaceId: WorkspaceId;
  readonly bounceDomain: string;
  readonly now: Date;
}

/** @throws ApiError VALIDATION_ERROR naming the field */
export async function readRoute(
  surroundings: Surroundings,
  body: RouteInput,
  before: Omit<InboundRouteRow, "updated_at">,
): Promise<InboundRouteRow> {
  const route = {
    ...before,
    ...(body.pattern != null && (await readOwnPattern(surroundings, body.pattern))),
    priority: body.priority ?? before.priority,
    webhook: body.webhook ?? before.webhook,
    keep: body.keep ?? before.keep,
    max_bytes: body.max_bytes ?? before.max_bytes,
    spam_threshold: body.spam_threshold === undefined ? before.spam_threshold : body.spam_threshold,
    spam_action: body.spam_action ?? before.spam_action,
    is_active: body.is_active ?? before.is_active,
    updated_at: surroundings.now,
  };
  if (!route.webhook && !route.keep) {
    throw invalid({
      field: "keep",
      message: "keep and webhook must not both be false: the mail would be discarded",
    });
  }
  return route;
}

async function readOwnPattern(
  { tx, workspaceId, bounceDomain }: Surroundings,
  text: string,
): Promise<AddressPattern> {
  const refuse = (message: string) => invalid({ field: "pattern", message: `pattern: ${message}` });
  const read = readPattern(text);
  if (!read.ok) throw refuse(read.message);
  const { local_part, domain } = read;
  if (domain === bounceDomain.toLowerCase()) {
    throw refuse(`${domain} receives bounces for the whole service: choose another domain`);
  }
  if (!(await isProvenDomain(tx, workspaceId, domain))) {
    throw refuse(
      `${domain} is not a verified sending domain of this workspace, nor below one: add the domain and verify it first`,
    );
  }
  return { local_part, domain };
}
