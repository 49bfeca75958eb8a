/** Tracking domains over HTTP: a workspace's own hosts, which the links in its mail begin with. */
import { type Static, Type } from "typebox";
import { DnsCheck } from "#identity/dns-checks/dns-check.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { lockRowLimit, requireBelowRowLimit } from "#platform/database/row-limit-store.ts";
import { ApiError, notFound, required } from "#platform/errors.ts";
import { type Endpoint, endpoint, need, type Resource } from "#platform/http/endpoint.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { CreatedAt, Deleted, described, Id, nullable, Timestamp } from "#platform/shapes.ts";
import { readTrackingDomain } from "./domain-name.ts";
import {
  findTrackingDomain,
  insertTrackingDomain,
  listTrackingDomains,
  removeTrackingDomain,
  renameTrackingDomain,
  type TrackingDomainRow,
  trackingDomainRoom,
} from "./store.ts";
import { type VerifyDeps, verifyTrackingDomain } from "./verify.ts";

const trackingDomains: Resource = {
  name: "tracking_domains",
  label: "Tracking domains",
  group: "Sending identity",
};

const TrackingDomain = Type.Object(
  {
    id: described(Id, "Id of the tracking domain."),
    domain: Type.String({ description: "Lower-case; international names as A-labels (punycode)." }),
    is_verified: Type.Boolean({
      description:
        "Its record points to this service. Checked daily; while it is false, links begin with the service's own address.",
    }),
    https_fault: nullable(
      Type.String({
        description:
          "The HTTPS error of the domain, as seen from this service; while it is set, links begin with the service's own address.",
      }),
    ),
    verified_at: nullable(described(Timestamp, "When the record was first seen, in UTC; null if never.")),
    checked_at: nullable(described(Timestamp, "Time of the last check in UTC; null before the first.")),
    dns_record: Type.Object(
      {
        type: Type.Literal("CNAME", { description: "Type of the record." }),
        host: Type.String({ description: "The full name of the record." }),
        value: Type.String({ description: "The value of the record." }),
      },
      { description: "The record to publish." },
    ),
    created_at: CreatedAt,
  },
  { $id: "TrackingDomain" },
);

const TrackingDomainInput = Type.Object(
  {
    domain: Type.String({
      minLength: 1,
      maxLength: 1000,
      description: "A name below a domain of yours, for example `links.example.com`.",
    }),
  },
  { $id: "TrackingDomainInput" },
);

const TrackingDomainUpdate = Type.Partial(TrackingDomainInput, { $id: "TrackingDomainUpdate" });

const TrackingDomainVerification = Type.Object(
  {
    verified: Type.Boolean({ description: "Unchanged when the DNS look-up failed." }),
    status: DnsCheck.properties.status,
    host: DnsCheck.properties.host,
    expected: DnsCheck.properties.expected,
    found: DnsCheck.properties.found,
    found_host: DnsCheck.properties.found_host,
    message: DnsCheck.properties.message,
    diagnosis: DnsCheck.properties.diagnosis,
    https_fault: TrackingDomain.properties.https_fault,
  },
  { $id: "TrackingDomainVerification" },
);

export interface TrackingDomainDeps extends VerifyDeps {
  /** Host names of the service itself. */
  readonly ownHosts: readonly string[];
  /** The scheduled, sending or paused campaign that uses it, as the beginning of a sentence. */
  readonly userOf: (db: Queryable, workspaceId: WorkspaceId, id: string) => Promise<string | undefined>;
}

export function trackingDomainEndpoints(deps: TrackingDomainDeps): Endpoint[] {
  const { db, clock } = deps;
  const shown = (row: TrackingDomainRow): Static<typeof TrackingDomain> => ({
    ...row,
    dns_record: { type: "CNAME", host: row.domain, value: deps.target },
  });
  const taken = (domain: string) =>
    new ApiError("CONFLICT", `${domain} is already a tracking domain of this workspace`);
  const found = async (workspaceId: WorkspaceId, id: string) => {
    return required(await findTrackingDomain(db, workspaceId, id), "Tracking domain");
  };
  const requireUnused = async (tx: Queryable, workspaceId: WorkspaceId, id: string) => {
    const user = await deps.userOf(tx, workspaceId, id);
    if (user !== undefined)
      throw new ApiError("CONFLICT", `${user} uses the tracking domain: cancel it first`);
  };
  return [
    endpoint({
      id: "listTrackingDomains",
      method: "GET",
      path: "/tracking-domains",
      summary: "List the tracking domains, newest first",
      description:
        "Domains of your own for the links and pixels in tracked mail, each with the record to publish.",
      needs: need(trackingDomains, "read"),
      answer: Type.Array(TrackingDomain),
      message: "Tracking domains",
      handle: async ({ caller }) => (await listTrackingDomains(db, caller.workspaceId)).map(shown),
    }),
    endpoint({
      id: "createTrackingDomain",
      method: "POST",
      path: "/tracking-domains",
      summary: "Add a tracking domain",
      description:
        "Publish the CNAME record of the answer, then call `POST /tracking-domains/{id}/verify`. Once it is verified, links of mail from its parent domain begin with it. A name that another workspace has claimed is refused (409).",
      needs: need(trackingDomains, "write"),
      body: TrackingDomainInput,
      answer: TrackingDomain,
      status: 201,
      errors: ["CONFLICT"],
      message: ({ domain }) => `${domain} was added; publish its dns_record, then verify it`,
      async handle({ caller: { workspaceId }, body }) {
        const domain = readTrackingDomain(body.domain, deps.ownHosts);
        const row = await db.transaction(async (tx) => {
          await requireBelowRowLimit(tx, workspaceId, trackingDomainRoom);
          return insertTrackingDomain(tx, workspaceId, domain, clock.now());
        });
        if (row === undefined) throw taken(domain);
        return shown(row);
      },
    }),
    endpoint({
      id: "getTrackingDomain",
      method: "GET",
      path: "/tracking-domains/{id}",
      summary: "One tracking domain",
      description: "The domain with the result of the last check and the record to publish.",
      needs: need(trackingDomains, "read"),
      answer: TrackingDomain,
      message: "Tracking domain",
      handle: async ({ caller, params }) => shown(await found(caller.workspaceId, params.id)),
    }),
    endpoint({
      id: "updateTrackingDomain",
      method: "PUT",
      path: "/tracking-domains/{id}",
      summary: "Rename a tracking domain; the new name has to be verified",
      description:
        "The new name starts unverified. Links in sent mail keep the old name, and work as long as its DNS record exists.",
      needs: need(trackingDomains, "write"),
      body: TrackingDomainUpdate,
      answer: TrackingDomain,
      errors: ["CONFLICT"],
      message: "Tracking domain updated",
      async handle({ caller: { workspaceId }, params: { id }, body }) {
        const domain = body.domain === undefined ? undefined : readTrackingDomain(body.domain, deps.ownHosts);
        const before = await found(workspaceId, id);
        if (domain === undefined) return shown(before);
        const row = await db.transaction(async (tx) => {
          await lockRowLimit(tx, workspaceId, trackingDomainRoom);
          const renamed = await renameTrackingDomain(tx, workspaceId, id, domain);
          if (renamed && domain !== before.domain) await requireUnused(tx, workspaceId, id);
          return renamed;
        });
        if (row === undefined) {
          await found(workspaceId, id);
          throw taken(domain);
        }
        return shown(row);
      },
    }),
    endpoint({
      id: "deleteTrackingDomain",
      method: "DELETE",
      path: "/tracking-domains/{id}",
      summary: "Delete a tracking domain; links in sent mail work as long as its DNS record exists",
      description:
        "New mail uses the service's own address in links. Leave the DNS record in place for as long as links of sent mail should work.",
      needs: need(trackingDomains, "write"),
      answer: Deleted,
      errors: ["CONFLICT"],
      message: "Tracking domain deleted",
      async handle({ caller: { workspaceId }, params: { id } }) {
        await db.transaction(async (tx) => {
          if (!(await removeTrackingDomain(tx, workspaceId, id))) throw notFound("Tracking domain");
          // The row is locked now: no other transaction starts to use it.
          await requireUnused(tx, workspaceId, id);
        });
        return { id, deleted: true } as const;
      },
    }),
    endpoint({
      id: "verifyTrackingDomain",
      method: "POST",
      path: "/tracking-domains/{id}/verify",
      mayTakeLong: "asking others",
      summary: "Look for the CNAME record now",
      description:
        "Looks up the CNAME record, and checks that HTTPS works there. Records that were just published may take some minutes to be visible; call it again.",
      needs: need(trackingDomains, "write"),
      answer: TrackingDomainVerification,
      errors: ["CONFLICT"],
      message: ({ message }) => message,
      async handle({ caller: { workspaceId }, params: { id } }) {
        const before = await found(workspaceId, id);
        const { check, obstacle, domain } = await verifyTrackingDomain(deps, workspaceId, before);
        if (domain === undefined) throw notFound("Tracking domain");
        if (obstacle !== null) throw new ApiError("CONFLICT", obstacle);
        const { status, host, expected, found: records, found_host, diagnosis } = check;
        const { is_verified: verified, https_fault } = domain;
        const message =
          https_fault === null ? check.message : `${check.message} ${withoutHttps(https_fault)}`;
        const dns = { status, host, expected, found: records, found_host, diagnosis };
        return { verified, ...dns, message, https_fault };
      },
    }),
  ];
}

function withoutHttps(fault: string): string {
  return `But it cannot be reached over HTTPS (${fault}), so links do not use it: install a certificate, then verify again.`;
}
