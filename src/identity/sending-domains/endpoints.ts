/** Sending domains over HTTP, and the DNS records that prove them. */
import { Type } from "typebox";
import { automaticKey, limitKeyGeneration, newDkimKey } from "#identity/dkims/generate-key.ts";
import { insertDkimKey } from "#identity/dkims/store.ts";
import { DnsStatus } from "#identity/domain-verification/dns-status.ts";
import { type DnsLookUpDeps, lookUpDnsStatus } from "#identity/domain-verification/look-up-dns-status.ts";
import type { OnVerification } from "#identity/domain-verification/verification-change.ts";
import { Verification, verificationMessage, verifyDomain } from "#identity/domain-verification/verify.ts";
import type { Clock } from "#platform/clock.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { requireBelowRowLimit } from "#platform/database/row-limit-store.ts";
import { ApiError, required } from "#platform/errors.ts";
import { type Endpoint, endpoint, need } from "#platform/http/endpoint.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { Secrets } from "#platform/secrets/secrets.ts";
import { CreatedAt, Deleted, described, Id, nullable, Timestamp } from "#platform/shapes.ts";
import { readSendingDomain } from "./domain-name.ts";
import { sendingDomains } from "./permission.ts";
import {
  type CheckedDomain,
  findSendingDomain,
  findSendingDomainByName,
  insertSendingDomain,
  listSendingDomains,
  removeDomainClaim,
  removeSendingDomain,
  sendingDomainRoom,
  updateCustomReturnPath,
  updateDmarcIngestion,
} from "./store.ts";

const SendingDomain = Type.Object(
  {
    id: described(Id, "Id of the sending domain."),
    domain: Type.String({ description: "Lower-case; international names as A-labels (punycode)." }),
    is_verified: Type.Boolean({ description: "Ownership is proved: mail may be sent from the domain." }),
    spf_verified: Type.Boolean({
      description: "Whether the SPF record includes this service, at the last check.",
    }),
    dkim_verified: Type.Boolean({
      description: "Whether the record of the signing key was published, at the last check.",
    }),
    dmarc_verified: Type.Boolean({
      description: "Whether the domain had a DMARC record, at the last check.",
    }),
    verified_at: nullable(described(Timestamp, "When ownership was first proved, in UTC; null if never.")),
    is_active: Type.Boolean({ description: "False: an administrator switched the domain off." }),
    custom_return_path: Type.Boolean({ description: "Whether the domain's own return path is switched on." }),
    return_path_verified: Type.Boolean({
      description: "Whether its record was correct at the last check; only then is it used.",
    }),
    dmarc_ingestion: Type.Boolean({ description: "Whether the domain's DMARC reports are collected." }),
    checked_at: nullable(described(Timestamp, "Time of the last check in UTC; null before the first.")),
    created_at: CreatedAt,
  },
  { $id: "SendingDomain" },
);

const SendingDomainInput = Type.Object(
  { domain: Type.String({ minLength: 1, maxLength: 1000, description: "For example `example.com`." }) },
  { $id: "SendingDomainInput" },
);

const Switch = Type.Object(
  { enabled: Type.Boolean({ description: "True switches it on, false switches it off." }) },
  { $id: "Switch" },
);

export interface SendingDomainDeps extends DnsLookUpDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly secrets: Secrets;
  readonly onVerification: OnVerification;
  /** The scheduled, sending or paused campaign that sends from the domain, as the beginning of a sentence. */
  readonly userOf: (tx: Queryable, workspaceId: WorkspaceId, domain: string) => Promise<string | undefined>;
  /** Deletes the DMARC and TLS reports about the domain; later ones are deleted with its row. */
  readonly removeReports: (workspaceId: WorkspaceId, domainId: string) => Promise<void>;
}

export function sendingDomainEndpoints(deps: SendingDomainDeps): Endpoint[] {
  const { db } = deps;
  return [
    endpoint({
      id: "listSendingDomains",
      method: "GET",
      path: "/sending-domains",
      summary: "List the sending domains, newest first",
      description:
        "The domains that the workspace sends from, with the flags of the last check. They are checked again every day.",
      needs: need(sendingDomains, "read"),
      isEveryday: true,
      answer: Type.Array(SendingDomain),
      message: "Sending domains",
      handle: ({ caller }) => listSendingDomains(db, caller.workspaceId),
    }),
    endpoint({
      id: "createSendingDomain",
      method: "POST",
      path: "/sending-domains",
      summary: "Add a sending domain, and generate its DKIM key",
      description:
        "The answer has the token that proves ownership; `GET /sending-domains/{id}/dns-status` has every record to publish. Publish them, then call `POST /sending-domains/{id}/verify`. A workspace has at most 1,000 sending domains.",
      needs: need(sendingDomains, "write"),
      body: SendingDomainInput,
      answer: SendingDomain,
      status: 201,
      errors: ["CONFLICT", "BAD_REQUEST"],
      message: (data) => `${data.domain} was added; publish the records of its dns-status, then verify it`,
      handle: ({ caller, body }) => createDomain(deps, caller.workspaceId, readSendingDomain(body.domain)),
    }),
    endpoint({
      id: "deleteSendingDomain",
      method: "DELETE",
      path: "/sending-domains/{id}",
      mayTakeLong: "reading",
      summary:
        "Delete a sending domain that no scheduled or sending campaign needs, and destroy its DKIM keys",
      description:
        "Mail from the domain is refused from then on, and its DKIM keys are destroyed. Refused (409) while a scheduled or sending campaign needs it.",
      needs: need(sendingDomains, "write"),
      answer: Deleted,
      errors: ["CONFLICT"],
      message: "Sending domain deleted",
      async handle({ caller, params: { id } }) {
        await deleteDomain(deps, caller.workspaceId, id);
        return { id, deleted: true } as const;
      },
    }),
    endpoint({
      id: "getSendingDomainDnsStatus",
      method: "GET",
      path: "/sending-domains/{id}/dns-status",
      mayTakeLong: "asking others",
      summary: "Show the DNS records to publish and what is published now",
      description:
        "Looks everything up now and changes no flag. Use it for a page that shows which records are missing.",
      needs: need(sendingDomains, "read"),
      isEveryday: true,
      answer: DnsStatus,
      message: "DNS status",
      handle: ({ caller, params }) =>
        dnsStatus(deps, caller.workspaceId, findSendingDomain(db, caller.workspaceId, params.id)),
    }),
    endpoint({
      id: "verifySendingDomain",
      method: "POST",
      path: "/sending-domains/{id}/verify",
      mayTakeLong: "asking others",
      summary: "Check the DNS now and update every flag",
      description:
        "Looks everything up now and stores the result. Ownership is enough to send; SPF, DKIM and DMARC decide how well mail is received. A domain that another workspace has proved to own is refused (409). Sends `domain.verified` or `domain.failed`.",
      needs: need(sendingDomains, "write"),
      answer: Verification,
      errors: ["CONFLICT"],
      message: verificationMessage,
      handle: ({ caller, params }) => verifyDomain(deps, caller.workspaceId, params.id),
    }),
    endpoint({
      id: "setCustomReturnPath",
      method: "PATCH",
      path: "/sending-domains/{id}/custom-return-path",
      summary: "Switch the domain's own return path on or off; it is used once its record is verified",
      description:
        "With its own return path a domain's bounces go to a name below it, and SPF is aligned for DMARC. Publish the record that `dns-status` shows, then verify the domain.",
      needs: need(sendingDomains, "write"),
      body: Switch,
      answer: DnsStatus,
      message: "Custom return path updated",
      handle: ({ caller, params, body }) =>
        dnsStatus(
          deps,
          caller.workspaceId,
          updateCustomReturnPath(db, caller.workspaceId, params.id, body.enabled),
        ),
    }),
    endpoint({
      id: "setDmarcIngestion",
      method: "PATCH",
      path: "/sending-domains/{id}/dmarc-ingestion",
      summary: "Switch the collection of the domain's DMARC reports on or off",
      description:
        "While it is on, `dns-status` shows the record to publish, and reports appear at `GET /sending-domains/{id}/dmarc-reports`.",
      needs: need(sendingDomains, "write"),
      body: Switch,
      answer: DnsStatus,
      message: "DMARC ingestion updated",
      handle: ({ caller, params, body }) =>
        dnsStatus(
          deps,
          caller.workspaceId,
          updateDmarcIngestion(db, caller.workspaceId, params.id, body.enabled),
        ),
    }),
  ];
}

async function createDomain(
  { db, clock, secrets }: SendingDomainDeps,
  workspaceId: WorkspaceId,
  domain: string,
) {
  const conflict = () => new ApiError("CONFLICT", `${domain} is already a sending domain of this workspace`);
  return limitKeyGeneration(workspaceId, async () => {
    // Checked first without a lock to avoid generating a key that is not needed; the check under the lock decides.
    if (await findSendingDomainByName(db, workspaceId, domain)) throw conflict();
    await requireBelowRowLimit(db, workspaceId, sendingDomainRoom);
    const now = clock.now();
    const key = await newDkimKey(secrets, { domain, ...automaticKey, createdAt: now });
    return db.transaction(async (tx) => {
      await requireBelowRowLimit(tx, workspaceId, sendingDomainRoom);
      const row = await insertSendingDomain(tx, workspaceId, domain, now);
      if (row === undefined) throw conflict();
      await insertDkimKey(tx, workspaceId, key);
      return row;
    });
  });
}

/**
 * An interrupted call can be repeated. When a campaign starts to use the domain meanwhile, the domain stays, without
 * its reports.
 */
async function deleteDomain(
  { db, userOf, removeReports }: SendingDomainDeps,
  workspaceId: WorkspaceId,
  id: string,
): Promise<void> {
  const refuseUsed = async (tx: Queryable, domain: string) => {
    const user = await userOf(tx, workspaceId, domain);
    if (user !== undefined) throw new ApiError("CONFLICT", `${user} sends from ${domain}: cancel it first`);
  };
  const found = required(await findSendingDomain(db, workspaceId, id), "Sending domain");
  // Checked first without a lock to keep the reports of a domain that stays; the check under the lock decides.
  await refuseUsed(db, found.domain);
  await removeReports(workspaceId, id);
  await db.transaction(async (tx) => {
    const domain = required(await removeSendingDomain(tx, workspaceId, id), "Sending domain");
    await refuseUsed(tx, domain);
    await removeDomainClaim(tx, workspaceId, domain);
  });
}

async function dnsStatus(
  deps: SendingDomainDeps,
  workspaceId: WorkspaceId,
  found: Promise<CheckedDomain | undefined>,
) {
  return lookUpDnsStatus(deps, workspaceId, required(await found, "Sending domain"));
}
