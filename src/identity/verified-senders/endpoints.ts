/** Verified senders: single addresses that their owners allowed a workspace to send as. */
import { type Static, Type } from "typebox";
import { maySendAs } from "#identity/may-send-as.ts";
import { isFreeMail } from "#identity/sending-domains/domain-name.ts";
import { domainOf, headerTextFault, normalizeAddress } from "#mail/address.ts";
import { parseOnlyAddress } from "#mail/mailbox.ts";
import type { Clock } from "#platform/clock.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { requireBelowRowLimit } from "#platform/database/row-limit-store.ts";
import { ApiError, invalid, notFound, required } from "#platform/errors.ts";
import { type Endpoint, endpoint, need, type Resource } from "#platform/http/endpoint.ts";
import { CONFIRMATION_LINK_MS } from "#platform/http/response/link-letter.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { refuseReached } from "#platform/limits/limit-errors.ts";
import type { Reached } from "#platform/limits/quota-store.ts";
import type { Secrets } from "#platform/secrets/secrets.ts";
import { CreatedAt, Deleted, described, Id, nullable, omittable, Timestamp } from "#platform/shapes.ts";
import { findWorkspace } from "#workspace/workspaces/store.ts";
import { noteConfirmationMail, tooSoon } from "./confirmation-limit.ts";
import { type SenderConfirmationMail, senderConfirmationMail } from "./confirmation-mail.ts";
import { confirmationPath } from "./confirmation-page.ts";
import { senderLinkKeys, signSenderLink } from "./confirmation-token.ts";
import {
  findVerifiedSender,
  insertVerifiedSender,
  listVerifiedSenders,
  removeVerifiedSender,
  updateSenderLink,
  type VerifiedSender as VerifiedSenderRow,
  verifiedSenderRoom,
} from "./store.ts";

const verifiedSenders: Resource = {
  name: "verified_senders",
  label: "Verified senders",
  group: "Sending identity",
};

const RESEND_PAUSE_MS = 60 * 1000;
const LONGEST_NAME = 200;

const VerifiedSender = Type.Object(
  {
    id: described(Id, "Id of the verified sender."),
    email: Type.String({ description: "Lower-case." }),
    from_name: Type.String({ description: "Name for From when a message gives none; may be empty." }),
    is_verified: Type.Boolean({
      description: "Whether its owner confirmed, so that mail may be sent as it.",
    }),
    verified_at: nullable(
      described(Timestamp, "When the link was followed, in UTC; null if it was not yet."),
    ),
    token_expires_at: Type.Unsafe<Date>({ ...Timestamp, description: "When the newest link stops working." }),
    created_at: CreatedAt,
  },
  { $id: "VerifiedSender" },
);

const NewVerifiedSender = Type.Object(
  {
    ...VerifiedSender.properties,
    warnings: Type.Array(Type.String(), {
      description: "What will make mail from this address hard to deliver.",
    }),
  },
  { $id: "NewVerifiedSender" },
);

const SenderInput = Type.Object(
  {
    email: Type.String({ minLength: 3, description: "A bare address: `name@example.com`." }),
    from_name: omittable(
      Type.String({ maxLength: LONGEST_NAME, description: "Name for From when a message gives none." }),
    ),
  },
  { $id: "VerifiedSenderInput" },
);

export interface VerifiedSenderDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly secrets: Secrets;
  /** PUBLIC_URL, or the address that the service listens on; without a trailing slash. */
  readonly publicUrl: () => string;
  /** Accepts a platform mail in the given transaction, or returns the limit that is reached. */
  readonly sendPlatformMail: (
    tx: Queryable,
    workspaceId: WorkspaceId,
    mail: SenderConfirmationMail,
  ) => Promise<Reached | null>;
  /** The scheduled, sending or paused campaign that sends as the address, as the beginning of a sentence. */
  readonly userOf: (tx: Queryable, workspaceId: WorkspaceId, email: string) => Promise<string | undefined>;
}

export function verifiedSenderEndpoints(deps: VerifiedSenderDeps): Endpoint[] {
  const { db } = deps;
  return [
    endpoint({
      id: "listVerifiedSenders",
      method: "GET",
      path: "/verified-senders",
      summary: "List the verified senders, newest first",
      description: "Single addresses that the workspace may send from without owning their domain.",
      needs: need(verifiedSenders, "read"),
      isEveryday: true,
      answer: Type.Array(VerifiedSender),
      message: "Verified senders",
      handle: ({ caller }) => listVerifiedSenders(db, caller.workspaceId),
    }),
    endpoint({
      id: "createVerifiedSender",
      method: "POST",
      path: "/verified-senders",
      summary: "Add a sender address and mail it a confirmation link",
      description:
        "Mails a link to the address. The reader of that mailbox confirms by the link, and the workspace may then send from exactly this address. Use a sending domain instead if you can publish DNS records.",
      needs: need(verifiedSenders, "write"),
      outward: "sends",
      body: SenderInput,
      answer: NewVerifiedSender,
      status: 201,
      errors: ["CONFLICT", "BAD_REQUEST", "RATE_LIMIT_EXCEEDED"],
      message: (data) => `A confirmation link was sent to ${data.email}`,
      handle: ({ caller, body }) => createSender(deps, caller.workspaceId, readInput(body)),
    }),
    endpoint({
      id: "resendVerifiedSenderLink",
      method: "POST",
      path: "/verified-senders/{id}/resend",
      summary: "Mail a new confirmation link, at most once a minute; older links stop working",
      description:
        "Use it when the first mail was lost or its link is too old. Before a minute has passed it answers 429.",
      needs: need(verifiedSenders, "write"),
      outward: "sends",
      answer: VerifiedSender,
      errors: ["CONFLICT", "RATE_LIMIT_EXCEEDED"],
      message: (data) => `A new confirmation link was sent to ${data.email}`,
      handle: ({ caller, params }) => resendLink(deps, caller.workspaceId, params.id),
    }),
    endpoint({
      id: "deleteVerifiedSender",
      method: "DELETE",
      path: "/verified-senders/{id}",
      summary: "Delete a verified sender that no scheduled or sending campaign needs",
      description:
        "Mail from the address is refused from then on. Refused (409) while a scheduled or sending campaign needs it.",
      needs: need(verifiedSenders, "write"),
      answer: Deleted,
      errors: ["CONFLICT"],
      message: "Verified sender deleted",
      handle: ({ caller, params }) => removeSender(deps, caller.workspaceId, params.id),
    }),
  ];
}

async function createSender(
  deps: VerifiedSenderDeps,
  workspaceId: WorkspaceId,
  input: { readonly email: string; readonly fromName: string },
) {
  const now = deps.clock.now();
  return deps.db.transaction(async (tx) => {
    await requireBelowRowLimit(tx, workspaceId, verifiedSenderRoom);
    const inserted = await insertVerifiedSender(tx, workspaceId, { ...input, now, expiresAt: expiryOf(now) });
    if (inserted === undefined) {
      throw new ApiError("CONFLICT", `${input.email} is a verified sender of this workspace already`);
    }
    const { token_number, ...sender } = inserted;
    await noteConfirmationMail(tx, workspaceId, sender.email, now, RESEND_PAUSE_MS);
    await sendLink(deps, tx, workspaceId, sender, token_number, now);
    return { ...sender, warnings: warningsFor(sender.email) };
  });
}

async function resendLink(deps: VerifiedSenderDeps, workspaceId: WorkspaceId, id: string) {
  const now = deps.clock.now();
  const quietSince = new Date(now.getTime() - RESEND_PAUSE_MS);
  return deps.db.transaction(async (tx) => {
    const link = { now, expiresAt: expiryOf(now), quietSince };
    const renewed = await updateSenderLink(tx, workspaceId, id, link);
    if (renewed === undefined) throw await refusal(tx, workspaceId, id, now);
    const { token_number, ...sender } = renewed;
    // updateSenderLink has already checked the pause, which does not apply to the first resend.
    await noteConfirmationMail(tx, workspaceId, sender.email, now, 0);
    await sendLink(deps, tx, workspaceId, sender, token_number, now);
    return sender;
  });
}

/** Why a link was not sent again. */
async function refusal(tx: Queryable, workspaceId: WorkspaceId, id: string, now: Date): Promise<ApiError> {
  const sender = await findVerifiedSender(tx, workspaceId, id);
  if (sender === undefined) return notFound("Verified sender");
  if (sender.is_verified) return new ApiError("CONFLICT", `${sender.email} is verified already`);
  return tooSoon(sender.link_sent_at, RESEND_PAUSE_MS, now);
}

/** @throws ApiError RATE_LIMIT_EXCEEDED */
async function sendLink(
  { secrets, publicUrl, sendPlatformMail }: VerifiedSenderDeps,
  tx: Queryable,
  workspaceId: WorkspaceId,
  { id, email, token_expires_at }: VerifiedSenderRow,
  number: number,
  now: Date,
): Promise<void> {
  const workspace = await findWorkspace(tx, workspaceId);
  if (workspace === undefined) throw new Error(`workspace ${workspaceId} is gone`);
  const link = { workspaceId, senderId: id, number, expiresAt: token_expires_at };
  const path = confirmationPath(signSenderLink(link, senderLinkKeys(secrets).signing));
  const mail = senderConfirmationMail(email, workspace.name, publicUrl() + path);
  const reached = await sendPlatformMail(tx, workspaceId, mail);
  refuseReached(reached, now);
}

async function removeSender({ db, userOf }: VerifiedSenderDeps, workspaceId: WorkspaceId, id: string) {
  await db.transaction(async (tx) => {
    const email = required(await removeVerifiedSender(tx, workspaceId, id), "Verified sender");
    const user = await userOf(tx, workspaceId, email);
    if (user === undefined) return;
    // If the domain is verified, the campaign can still send as the address.
    if ((await maySendAs(tx, workspaceId, email)).allowed) return;
    throw new ApiError("CONFLICT", `${user} sends as ${email}: cancel it first`);
  });
  return { id, deleted: true } as const;
}

function expiryOf(now: Date): Date {
  return new Date(now.getTime() + CONFIRMATION_LINK_MS);
}

/** @throws ApiError VALIDATION_ERROR */
function readInput({ email, from_name }: Static<typeof SenderInput>) {
  const address = parseOnlyAddress(email);
  if (!address.ok) throw invalid({ field: "email", message: `email: ${address.message}` });
  const name = from_name ?? "";
  const fault = headerTextFault(name);
  if (fault !== null) throw invalid({ field: "from_name", message: `from_name: ${fault}` });
  return { email: normalizeAddress(address.address), fromName: name.trim() };
}

function warningsFor(email: string): string[] {
  const domain = domainOf(email);
  if (!isFreeMail(domain)) return [];
  return [
    `${domain} belongs to a mailbox provider, which we cannot sign for: mail from this address fails DMARC alignment and is often refused or filed as spam. Use an address on a sending domain of your own.`,
  ];
}
