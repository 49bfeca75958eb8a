/** DKIM keys over HTTP: further keys of a domain, for rotation or a chosen selector. */
import { type Static, Type } from "typebox";
import type { Resolver } from "#dns/resolver-interface.ts";
import { DnsCheck } from "#identity/dns-checks/dns-check.ts";
import { stateAfterRequest } from "#identity/dns-checks/state-after-check.ts";
import { changeOf, type OnVerification } from "#identity/domain-verification/verification-change.ts";
import {
  findSendingDomainByName,
  lockSendingDomain,
  updateDkimVerified,
} from "#identity/sending-domains/store.ts";
import { parseDomain } from "#mail/address.ts";
import type { Clock } from "#platform/clock.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { ApiError, invalid, notFound, required } from "#platform/errors.ts";
import { type Endpoint, endpoint, need, type Resource } from "#platform/http/endpoint.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { Secrets } from "#platform/secrets/secrets.ts";
import { CreatedAt, Deleted, described, Id, NullableTimestamp, patterned } from "#platform/shapes.ts";
import { checkKeyRecord, keyRecord } from "./check-record.ts";
import { limitKeyGeneration, newDkimKey } from "./generate-key.ts";
import {
  failingSince,
  findDkimKey,
  insertDkimKey,
  listDkimKeys,
  listDkimKeysOfDomain,
  removeDkimKey,
  updateDkimKeyVerification,
} from "./store.ts";

const dkims: Resource = { name: "dkims", label: "DKIM keys", group: "Sending identity" };

/** Each check of a domain looks up all of its keys. */
const MOST_KEYS = 20;

const DkimKey = Type.Object(
  {
    id: described(Id, "Id of the DKIM key."),
    domain: Type.String({ description: "The sending domain that it signs for." }),
    selector: Type.String({ description: "The selector, which begins the name of its record." }),
    bits: Type.Integer({ description: "Length of the RSA key." }),
    public_key: Type.String({ description: "Base64, as in the p= tag." }),
    is_automatic: Type.Boolean({ description: "Created with its domain." }),
    verified_at: Type.Unsafe<Date | null>({
      ...NullableTimestamp,
      description: "When its record was first seen. The newest verified key of a domain signs.",
    }),
    created_at: CreatedAt,
  },
  { $id: "DkimKey" },
);

const NewDkimKey = Type.Object(
  {
    ...DkimKey.properties,
    dns_record: Type.Object(
      {
        type: Type.Literal("TXT", { description: "Type of the record." }),
        host: Type.String({ description: "The full name of the record." }),
        value: Type.String({ description: "The value of the record." }),
      },
      { description: "The record to publish." },
    ),
    dns_host: Type.String({ description: "As `dns_record.host`." }),
    dns_value: Type.String({ description: "As `dns_record.value`." }),
    warnings: Type.Array(Type.String(), {
      description: "What to consider before the record is published, for people; empty if nothing.",
    }),
  },
  { $id: "NewDkimKey" },
);

const DkimKeyInput = Type.Object(
  {
    domain: Type.String({ maxLength: 1000, description: "A sending domain of the workspace." }),
    selector: Type.Optional(
      patterned("^[a-z0-9-]{1,63}$", "1 to 63 lower-case letters, digits and hyphens, such as key2", {
        default: "default",
        description: "Lower-case.",
      }),
    ),
    bits: Type.Optional(
      Type.Enum([1024, 2048, 4096], {
        default: 2048,
        description: "Length of the RSA key; 1024 only for name servers that cannot store longer records.",
      }),
    ),
  },
  { $id: "DkimKeyInput" },
);

const KeyVerification = Type.Object(
  {
    verified: Type.Boolean({ description: "Unchanged when the DNS look-up failed." }),
    status: DnsCheck.properties.status,
    host: DnsCheck.properties.host,
    expected: DnsCheck.properties.expected,
    found: DnsCheck.properties.found,
    found_host: DnsCheck.properties.found_host,
    message: DnsCheck.properties.message,
    diagnosis: DnsCheck.properties.diagnosis,
  },
  { $id: "DkimKeyVerification" },
);

export interface DkimDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly secrets: Secrets;
  /** Resolves through the domain's own name servers first. */
  readonly resolverFor: (domain: string) => Resolver;
  readonly onVerification: OnVerification;
}

export function dkimEndpoints(deps: DkimDeps): Endpoint[] {
  return [
    endpoint({
      id: "listDkimKeys",
      method: "GET",
      path: "/dkims",
      summary: "List the DKIM keys, newest first",
      description:
        "The keys of all sending domains, without their private halves. The newest verified key of a domain signs its mail.",
      needs: need(dkims, "read"),
      answer: Type.Array(DkimKey),
      message: "DKIM keys",
      handle: ({ caller }) => listDkimKeys(deps.db, caller.workspaceId),
    }),
    endpoint({
      id: "createDkimKey",
      method: "POST",
      path: "/dkims",
      summary: "Generate a DKIM key for a sending domain",
      description:
        "Use it to replace a key: publish the record of the answer, check it with `POST /dkims/{id}/verify-dns`, and delete the old key some days later. Until its record is seen, the old key signs. The private half never leaves the service.",
      needs: need(dkims, "write"),
      body: DkimKeyInput,
      answer: NewDkimKey,
      status: 201,
      errors: ["CONFLICT"],
      message: (data) => `Publish the TXT record at ${data.dns_host}, then verify it`,
      handle: ({ caller, body }) => createKey(deps, caller.workspaceId, body),
    }),
    endpoint({
      id: "verifyDkimKeyDns",
      method: "POST",
      path: "/dkims/{id}/verify-dns",
      mayTakeLong: "asking others",
      summary: "Check that the published record matches the key",
      description:
        "Compares the published record with the key. From then on a verified key signs if it is the newest of its domain.",
      needs: need(dkims, "write"),
      answer: KeyVerification,
      message: (data) => data.message,
      handle: ({ caller, params }) => verifyKey(deps, caller.workspaceId, params.id),
    }),
    endpoint({
      id: "deleteDkimKey",
      method: "DELETE",
      path: "/dkims/{id}",
      summary: "Delete a DKIM key; the only key of a verified domain cannot be deleted",
      description:
        "The private half is destroyed. Mail that was signed with it can be verified as long as its record is published. The only key of a verified domain is refused (409).",
      needs: need(dkims, "write"),
      answer: Deleted,
      errors: ["CONFLICT"],
      message: "DKIM key deleted",
      async handle({ caller, params: { id } }) {
        await deleteKey(deps.db, caller.workspaceId, id);
        return { id, deleted: true } as const;
      },
    }),
  ];
}

async function createKey(
  { db, clock, secrets }: DkimDeps,
  workspaceId: WorkspaceId,
  { domain: given, selector = "default", bits = 2048 }: Static<typeof DkimKeyInput>,
) {
  const parsed = parseDomain(given);
  const domain = parsed.ok ? parsed.domain : given;
  const row = await limitKeyGeneration(workspaceId, async () => {
    // Checked first without a lock to avoid generating a key that is refused; the check under the lock decides.
    if (!(await findSendingDomainByName(db, workspaceId, domain))) throw foreignDomain(domain);
    await refuseSelector(db, workspaceId, domain, selector);
    const settings = { domain, selector, bits, isAutomatic: false, createdAt: clock.now() };
    const key = await newDkimKey(secrets, settings);
    return db.transaction(async (tx) => {
      if (!(await lockSendingDomain(tx, workspaceId, domain))) throw foreignDomain(domain);
      await refuseSelector(tx, workspaceId, domain, selector);
      return insertDkimKey(tx, workspaceId, key);
    });
  });
  if (row === undefined) throw new Error("a key was added without the domain's lock");
  const record = keyRecord(row);
  return {
    ...row,
    dns_record: record,
    dns_host: record.host,
    dns_value: record.value,
    warnings:
      bits === 1024 ? ["1024 bits are the minimum that receivers accept (RFC 8301): prefer 2048."] : [],
  };
}

function foreignDomain(domain: string): ApiError {
  return invalid({ field: "domain", message: `domain: ${domain} is not a sending domain of this workspace` });
}

/** @throws ApiError CONFLICT when the selector is taken or the domain has the maximum number of keys */
async function refuseSelector(
  db: Queryable,
  workspaceId: WorkspaceId,
  domain: string,
  selector: string,
): Promise<void> {
  const keys = await listDkimKeysOfDomain(db, workspaceId, domain);
  if (keys.some((key) => key.selector === selector)) {
    throw new ApiError("CONFLICT", `${domain} already has a key with the selector ${selector}`);
  }
  if (keys.length >= MOST_KEYS) {
    throw new ApiError("CONFLICT", `${domain} has ${MOST_KEYS} keys; delete one that is not needed any more`);
  }
}

async function verifyKey(deps: DkimDeps, workspaceId: WorkspaceId, id: string) {
  const { db } = deps;
  const key = required(await findDkimKey(db, workspaceId, id), "DKIM key");
  const { type: _, ...check } = await checkKeyRecord(deps.resolverFor(key.domain), key);
  const now = deps.clock.now();
  const state = { verified: key.verified_at !== null, failures: null };
  const { verified } = stateAfterRequest(state, check.status, now);
  if (check.status !== "error") {
    await db.transaction(async (tx) => {
      const before = await lockSendingDomain(tx, workspaceId, key.domain);
      const since = failingSince(await listDkimKeysOfDomain(tx, workspaceId, key.domain), now);
      await updateDkimKeyVerification(tx, workspaceId, id, { verified, failures: null, now });
      const after = await updateDkimVerified(tx, workspaceId, key.domain, since);
      if (before && after) await deps.onVerification(tx, changeOf(workspaceId, { before, after }, now));
    });
  }
  return { verified, ...check };
}

async function deleteKey(db: Database, workspaceId: WorkspaceId, id: string): Promise<void> {
  const key = required(await findDkimKey(db, workspaceId, id), "DKIM key");
  await db.transaction(async (tx) => {
    const domain = await lockSendingDomain(tx, workspaceId, key.domain);
    const keys = await listDkimKeysOfDomain(tx, workspaceId, key.domain);
    const others = keys.filter((other) => other.id !== id);
    // A verified domain needs a published key: receivers would reject signatures of a key that is not published.
    const isNeeded =
      key.verified_at === null ? others.length === 0 : others.every((other) => !other.verified_at);
    if (domain?.is_verified && isNeeded) {
      throw new ApiError("CONFLICT", `${key.domain} needs this key: add and verify another one first`);
    }
    if (!(await removeDkimKey(tx, workspaceId, id))) throw notFound("DKIM key");
    // `onVerification` is not called, because the caller deletes the key and no check has failed;
    // for the same reason no loss is recorded.
    await updateDkimVerified(tx, workspaceId, key.domain, null);
  });
}
