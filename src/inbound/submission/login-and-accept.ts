/**
 * The conversation on the submission port (RFC 6409): a client logs in with an API key, names recipients and submits a
 * message. Each recipient gets a message of its own. All messages of one DATA are accepted, or none, so that a client that
 * retries after a temporary refusal sends nothing twice.
 */

import type { SMTPServerEnvelope } from "smtp-server";
import { maySendAsEach, type SenderQuestion } from "#identity/may-send-as.ts";
import type { Conversation } from "#inbound/listener/conversation-interface.ts";
import { SmtpReply } from "#inbound/listener/smtp-reply.ts";
import { type Address, isSameAddress, parseAddress } from "#mail/address.ts";
import { findMessage } from "#messages/store.ts";
import type { Clock } from "#platform/clock.ts";
import { createWorkspaceLimiter } from "#platform/concurrency.ts";
import type { Database } from "#platform/database/pool.ts";
import { ApiError, type ErrorCode } from "#platform/errors.ts";
import type { Caller } from "#platform/http/auth/caller.ts";
import { newId } from "#platform/ids.ts";
import { inTime } from "#platform/in-time.ts";
import { limits } from "#platform/limits/limits.ts";
import type { Draft } from "#sending/acceptance/accept-messages-statement.ts";
import type { Acceptor } from "#sending/acceptance/acceptor.ts";
import type { Logins } from "./login.ts";
import { SMALL_MESSAGE, type SubmissionReader } from "./read-large-in-thread.ts";
import type { ReadSubmission } from "./read-submission.ts";
import { newAttempt, type SubmissionAttempt, UncertainAttempts } from "./uncertain-attempts.ts";

const MOST_RECIPIENTS = 100;
const MOST_WRONG_LOGINS = 3;
/** Ids in the 250 reply, whose line has at most 512 octets. */
const MOST_IDS = 10;

/** Supported parameters of MAIL. Others are refused with 555 (RFC 5321 section 4.1.1.11), because we would not honour them. */
const mailParameters = new Set(["SIZE", "BODY", "SMTPUTF8", "AUTH"]);

export interface SubmissionDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly acceptor: Acceptor;
  readonly logins: Logins;
  readonly reader: SubmissionReader;
  /** MAIL_HOSTNAME, for the Received field. */
  readonly hostname: string;
  /** The sender of the installation, which every workspace may use. */
  readonly platformFrom: string | null;
}

/** How long the database may take to store a message. */
const PATIENCE_MS = 4_300;
/** The additional time that a large message may wait for those of other workspaces (sending/acceptance/acceptor.ts). */
const MOST_LINE_MS = 4_000;
/** Limits of large messages of one workspace. Clients wait ten minutes for the reply (RFC 5321 section 4.5.3.2.6). */
const LARGE_TURNS = {
  concurrency: limits.largeSubmissions.most,
  maxWaiting: limits.largeSubmissionsWaiting.most,
  maxWaitMs: 20_000,
};

/** The database timed out: it is unknown whether the message was stored. */
class SilentDatabase extends SmtpReply {
  constructor() {
    super(451, "4.3.0", "The database gives no answer: retry shortly");
  }
}
const silentDatabase = () => new SilentDatabase();

export function createSubmission(deps: SubmissionDeps): (network: string) => Conversation {
  const uncertain = new UncertainAttempts();
  const largeTurn = createWorkspaceLimiter(
    LARGE_TURNS,
    "Too many large messages of this workspace are being accepted: retry shortly",
  );
  return (network) => {
    let secret = "";
    let wrongLogins = 0;
    const caller = () => deps.logins.callerOf(secret).catch(refuse);
    return {
      async login(password) {
        try {
          await deps.logins.login(password, network);
        } catch (fault) {
          wrongLogins += 1;
          if (wrongLogins < MOST_WRONG_LOGINS) throw fault;
          throw new SmtpReply(421, "4.7.0", "Too many failed logins", { cause: fault });
        }
        secret = password;
      },
      // The address is checked but not used, because the return path of sent messages is ours.
      async mail({ address, args }) {
        requireKnown(args, mailParameters);
        if (address !== "") readAddress(address);
        await caller();
      },
      async recipient({ address, args }, { rcptTo }) {
        requireKnown(args, new Set());
        readAddress(address);
        if (rcptTo.length >= MOST_RECIPIENTS) {
          throw new SmtpReply(452, "4.5.3", `A message has at most ${MOST_RECIPIENTS} recipients`);
        }
      },
      async message({ message }, envelope) {
        const sender = await inTime(PATIENCE_MS, caller(), silentDatabase);
        const given = { message, recipients: envelope.rcptTo.map(({ address }) => address), envelope };
        if (message.length <= SMALL_MESSAGE) return submit(deps, uncertain, sender, given);
        const large = largeTurn(sender.workspaceId, () => submit(deps, uncertain, sender, given));
        return large.catch(refuse);
      },
    };
  };
}

interface Given {
  readonly message: Buffer;
  readonly recipients: readonly string[];
  readonly envelope: SMTPServerEnvelope;
}

/** @returns the text of the 250 */
async function submit(
  deps: SubmissionDeps,
  uncertain: UncertainAttempts,
  sender: Caller,
  { message, recipients, envelope }: Given,
): Promise<string> {
  const { db, clock, hostname, reader } = deps;
  const contextOf = ({ id, now }: SubmissionAttempt) => ({
    id,
    now,
    hostname,
    isSmtpUtf8: envelope.smtpUtf8 ?? false,
  });
  let attempt = newAttempt(recipients.length, clock.now());
  let read = await reader.read(message, contextOf(attempt));
  const submitted = { workspaceId: sender.workspaceId, recipients, digest: read.digest };
  const earlier = uncertain.find(submitted);
  if (earlier !== undefined) {
    attempt = earlier;
    read = await reader.read(message, contextOf(earlier));
  }
  const store = async () => {
    if (earlier !== undefined && (await isStored(db, sender, earlier))) return;
    await requireRights(deps, sender, read);
    const drafts = recipients.map((address, index) =>
      draftFor(readAddress(address), read, sender, {
        attempt,
        messageId: attempt.messageIds[index],
        platformFrom: deps.platformFrom,
      }),
    );
    await accept(deps, drafts);
  };
  const mostMs = message.length <= SMALL_MESSAGE ? PATIENCE_MS : PATIENCE_MS + MOST_LINE_MS;
  try {
    await inTime(mostMs, store(), silentDatabase);
  } catch (fault) {
    if (fault instanceof SilentDatabase || !(fault instanceof SmtpReply)) uncertain.keep(submitted, attempt);
    else uncertain.forget(submitted);
    throw fault;
  }
  uncertain.forget(submitted);
  return queued(attempt);
}

function requireKnown(given: object | false, known: ReadonlySet<string>): void {
  const unknown = Object.keys(given || {}).find((name) => !known.has(name));
  if (unknown !== undefined) throw new SmtpReply(555, "5.5.4", `The parameter ${unknown} is not supported`);
}

function readAddress(text: string): Address {
  const parsed = parseAddress(text);
  if (parsed.ok) return parsed;
  throw new SmtpReply(553, "5.1.3", `The address is not valid: ${parsed.message}`);
}

/** Requires the right to send as all further senders of the message. The acceptor checks From. */
async function requireRights(
  { db, platformFrom }: SubmissionDeps,
  caller: Caller,
  { senders }: ReadSubmission,
): Promise<void> {
  const others = senders.filter(({ address }) => !isSameAddress(address, platformFrom));
  if (others.length === 0) return;
  const questions = others.map((address) => questionOf(caller, address));
  const maySendAs = await maySendAsEach(db, questions);
  const foreign = questions.find((question) => !maySendAs(question));
  if (foreign !== undefined) throw notVerified(`Sender or Resent-From ${foreign.address}`);
}

function questionOf({ workspaceId }: Caller, { address, domain }: Address): SenderQuestion {
  return { workspaceId, address, domain };
}

/** The same error as that of POST /emails/send. */
function notVerified(who: string): SmtpReply {
  return new SmtpReply(
    550,
    "5.7.1",
    `VALIDATION_ERROR: ${who} is not on a verified sending domain and is not a verified sender of this workspace`,
  );
}

function draftFor(
  { local, domain }: Address,
  { from, subject, raw }: ReadSubmission,
  caller: Caller,
  {
    attempt: { id, now },
    platformFrom,
    messageId = newId(),
  }: {
    readonly attempt: SubmissionAttempt;
    readonly messageId: string | undefined;
    readonly platformFrom: string | null;
  },
): Draft {
  return {
    sender: isSameAddress(from.address, platformFrom) ? null : questionOf(caller, from),
    priority: 0,
    retryHours: caller.retryHours,
    message: {
      workspaceId: caller.workspaceId,
      id: messageId,
      source: "smtp",
      originId: caller.actor.id,
      originName: caller.actor.name,
      fromEmail: from.address,
      fromName: null,
      toName: null,
      localpart: local,
      domain,
      subject,
      html: null,
      text: null,
      attachments: [],
      submission: { id, raw },
      bounceEmail: null,
      requestId: id,
      createdAt: now,
    },
  };
}

/** Checks after an unexpected error whether the messages were stored, so that the client does not submit them again. */
async function accept({ db, acceptor }: SubmissionDeps, drafts: readonly Draft[]): Promise<void> {
  try {
    await acceptor.acceptTogether(drafts);
  } catch (fault) {
    const [first] = drafts;
    if (fault instanceof ApiError || first === undefined) return refuse(fault, first?.message.fromEmail);
    const { workspaceId, id } = first.message;
    const found = await findMessage(db, workspaceId, id).catch(() => undefined);
    if (found === undefined) throw fault;
  }
}

/** Whether the messages of an attempt were stored; all are, or none. */
async function isStored(
  db: Database,
  { workspaceId }: Caller,
  { messageIds }: SubmissionAttempt,
): Promise<boolean> {
  const [first = ""] = messageIds;
  return (await findMessage(db, workspaceId, first)) !== undefined;
}

const replies: Partial<Record<ErrorCode, readonly [code: number, enhanced: string]>> = {
  UNAUTHORIZED: [550, "5.7.1"],
  INSUFFICIENT_SCOPE: [550, "5.7.1"],
  SERVICE_SUSPENDED: [550, "5.7.1"],
  PLAN_LIMIT_REACHED: [550, "5.7.1"],
  INSUFFICIENT_BALANCE: [550, "5.7.1"],
  RATE_LIMIT_EXCEEDED: [451, "4.7.1"],
  INTERNAL_ERROR: [452, "4.3.1"],
};

/** Throws the error of the API as an SMTP reply. */
function refuse(fault: unknown, fromEmail = ""): never {
  if (!(fault instanceof ApiError)) throw fault;
  if (fault.code === "VALIDATION_ERROR") throw notVerified(`From ${fromEmail}`);
  const [code, enhanced] = replies[fault.code] ?? [451, "4.3.0"];
  throw new SmtpReply(code, enhanced, `${fault.code}: ${fault.message}`, { cause: fault });
}

function queued({ messageIds: ids }: SubmissionAttempt): string {
  const more = ids.length > MOST_IDS ? ` and ${ids.length - MOST_IDS} more` : "";
  return `2.0.0 Queued as ${ids.slice(0, MOST_IDS).join(" ")}${more}`;
}
