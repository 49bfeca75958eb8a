/** Share links over HTTP. The pages that they open are in share-page.ts. */

import { sendingDomains } from "#identity/sending-domains/permission.ts";
import { findSendingDomain } from "#identity/sending-domains/store.ts";
import { describeAudit } from "#platform/audit/pending-event.ts";
import type { Clock } from "#platform/clock.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { requireBelowRowLimit } from "#platform/database/row-limit-store.ts";
import { ApiError, invalid, required } from "#platform/errors.ts";
import { requirePermissions } from "#platform/http/authenticate.ts";
import { type Endpoint, endpoint, need, permissionOf } from "#platform/http/endpoint.ts";
import { pageFields } from "#platform/http/request/query.ts";
import { offsetOf, pageOf, pagination } from "#platform/http/response/pagination.ts";
import { newId, type WorkspaceId } from "#platform/ids.ts";
import { Deleted } from "#platform/shapes.ts";
import { DAY_MS } from "#platform/time-units.ts";
import { campaigns } from "#sending/campaigns/campaign.ts";
import { requireCampaignState } from "#sending/campaigns/lifecycle/lifecycle.ts";
import { readExpiry } from "#workspace/api-keys/read-expiry.ts";
import type { PasswordHasher } from "#workspace/passwords/hash-password.ts";
import { hashToken } from "#workspace/people/open-session.ts";
import { CreatedShareLink, NewShareLink, ShareLink, type ShareLinkKind, shareLinks } from "./share-link.ts";
import { SHARE_PATH } from "./share-page.ts";
import { newShareToken } from "./share-token.ts";
import {
  countShareLinks,
  insertShareLink,
  listShareLinks,
  removeEndedLinks,
  removeShareLink,
  type ShareLinkRow,
  shareLinkRoom,
} from "./store.ts";

const DEFAULT_DAYS = 14;
const MOST_DAYS = 90;

export interface ShareLinkDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly hasher: PasswordHasher;
  readonly publicUrl: () => string;
}

/** What a caller must be able to read to share it. */
const resources = { campaign_report: campaigns, dns_records: sendingDomains } as const;

export function shareLinkEndpoints({ db, clock, hasher, publicUrl }: ShareLinkDeps): Endpoint[] {
  return [
    endpoint({
      id: "listShareLinks",
      method: "GET",
      path: "/share-links",
      summary: "Share links that have not ended, newest first",
      description:
        "Who made each link, what it shows, until when, and how often it was opened. Addresses and passwords are not shown.",
      needs: need(shareLinks, "read"),
      query: pageFields(),
      answer: pageOf("links", ShareLink),
      message: "Share links",
      async handle({ caller: { workspaceId }, query }) {
        const now = clock.now();
        const [links, total] = await Promise.all([
          listShareLinks(db, workspaceId, now, { limit: query.limit, offset: offsetOf(query) }),
          countShareLinks(db, workspaceId, now),
        ]);
        return { links, pagination: pagination(query, total) };
      },
    }),
    endpoint({
      id: "createShareLink",
      method: "POST",
      path: "/share-links",
      summary: "Make a link that shows a report or DNS records to people without an account",
      description:
        "The page at `url` shows the figures and links of a campaign without its recipients, or the records of a sending domain, expected and found, as they are when it is opened. It needs the permission to read them, too. The link ends at `expires_at`, when it is revoked, or when the campaign or domain is deleted. A workspace has at most 500 links.",
      needs: need(shareLinks, "write"),
      // It shows data outside of the service.
      outward: "sends",
      body: NewShareLink,
      answer: CreatedShareLink,
      status: 201,
      message: "Link made; its address is not shown again",
      errors: ["BAD_REQUEST", "CONFLICT", "NOT_FOUND"],
      async handle({ caller, body }) {
        const { workspaceId, actor } = caller;
        requirePermissions(caller, [permissionOf(need(resources[body.kind], "read"))]);
        const now = clock.now();
        const expires_at = endOf(body.expires_at ?? null, now);
        const name = await nameOf(db, workspaceId, body);
        const passwordHash = body.password == null ? null : await hasher.hash(body.password);
        const token = newShareToken(workspaceId);
        const link: ShareLinkRow = {
          id: newId(),
          kind: body.kind,
          resource_id: body.resource_id,
          name,
          has_password: passwordHash !== null,
          created_by: actor.name,
          created_at: now,
          expires_at,
          view_count: 0,
          last_viewed_at: null,
        };
        await db.transaction(async (tx) => {
          describeAudit({ resource: { id: link.id, name } });
          await removeEndedLinks(tx, workspaceId, now);
          await requireBelowRowLimit(tx, workspaceId, shareLinkRoom);
          await insertShareLink(tx, workspaceId, link, { tokenHash: hashToken(token), passwordHash });
        });
        return { ...link, url: publicUrl() + SHARE_PATH + token };
      },
    }),
    endpoint({
      id: "revokeShareLink",
      method: "DELETE",
      path: "/share-links/{id}",
      summary: "Revoke a share link",
      description: "Its page stops working at once. The audit log keeps who made and who revoked it.",
      needs: need(shareLinks, "write"),
      answer: Deleted,
      message: "Link revoked",
      async handle({ caller: { workspaceId }, params: { id } }) {
        return db.transaction(async (tx) => {
          const name = required(await removeShareLink(tx, workspaceId, id, clock.now()), "Share link");
          describeAudit({ resource: { id, name } });
          return { id, deleted: true } as const;
        });
      },
    }),
  ];
}

/** @throws ApiError VALIDATION_ERROR */
function endOf(given: string | null, now: Date): Date {
  const end = given === null ? new Date(now.getTime() + DEFAULT_DAYS * DAY_MS) : readExpiry(given, now);
  if (end.getTime() - now.getTime() <= MOST_DAYS * DAY_MS) return end;
  throw invalid({ field: "expires_at", message: `expires_at must be within ${MOST_DAYS} days` });
}

/** @throws ApiError NOT_FOUND, CONFLICT for a campaign of which nothing was sent */
async function nameOf(
  db: Queryable,
  workspaceId: WorkspaceId,
  { kind, resource_id }: { readonly kind: ShareLinkKind; readonly resource_id: string },
): Promise<string> {
  if (kind === "dns_records") {
    return required(await findSendingDomain(db, workspaceId, resource_id), "Sending domain").domain;
  }
  const { name, status, sent_at } = await requireCampaignState(db, workspaceId, resource_id);
  if (sent_at !== null) return name;
  throw new ApiError("CONFLICT", `The campaign is ${status}: it has a report when it has been sent`);
}
