/** Opens the SMTP ports for inbound mail and for submission. A port that is not configured is not opened. */

import { returnPathKeys } from "#delivery/compose/compose-leased-message.ts";
import { WorkerNotifier } from "#delivery/queue/notify-workers.ts";
import { createResolver } from "#dns/network-resolver.ts";
import type { OnMoved } from "#messages/message/outcome.ts";
import type { ProcessContext } from "#platform/context/process-context.ts";
import { trustedProxies } from "#platform/http/auth/source-network.ts";
import { KeyAuthenticator } from "#platform/http/authenticate.ts";
import { limits } from "#platform/limits/limits.ts";
import { bindPort, type PortSetting } from "#platform/network/bind-port.ts";
import { createAcceptor } from "#sending/acceptance/acceptor.ts";
import { readSpamdUrl } from "#sending/check/ask-spamd.ts";
import { createPlatformMail } from "#sending/platform-mail/platform-mail.ts";
import { mailLinkKeys } from "#tracking/link-tokens.ts";
import type { OnUnsubscribed } from "#tracking/unsubscribe-and-undo.ts";
import { createLastUsed } from "#workspace/api-keys/last-used.ts";
import { findKeyByHash } from "#workspace/api-keys/store.ts";
import { LimitNotices } from "#workspace/billing/log-reached-limits.ts";
import { readPlans } from "#workspace/billing/plans-file.ts";
import { InboundConversation, type InboundConversationDeps } from "./inbound-conversation.ts";
import { Certificate } from "./listener/certificate.ts";
import { ConnectionCaps } from "./listener/connection-caps.ts";
import { type ListenerOptions, SmtpListener } from "./listener/listener.ts";
import { MessageMemory } from "./listener/message-data.ts";
import { NetworkLog } from "./listener/rate-limited-log.ts";
import { createMailParser } from "./parsing/parse-mail-in-threads.ts";
import { type OnReceived, RECEIVED_PARSING, startReceiving } from "./received/process-received.ts";
import { ReceivingMemory } from "./received/receiving-memory.ts";
import { createSpamScan } from "./received/scan-spam.ts";
import { startProcessing } from "./returns/process-stored-mail.ts";
import { LARGEST_MAIL } from "./returns/returns-transaction.ts";
import { createLogins } from "./submission/login.ts";
import { createSubmission } from "./submission/login-and-accept.ts";
import { SubmissionReader } from "./submission/read-large-in-thread.ts";

const SUBMISSION = {
  mostBytes: 30 * 1024 * 1024,
  memoryBytes: 256 * 1024 * 1024,
  sessions: { perNetwork: limits.submissionSessionsPerNetwork.most, all: limits.submissionSessions.most },
};

const INBOUND = {
  mostBytes: LARGEST_MAIL,
  memoryBytes: 160 * 1024 * 1024,
  sessions: { perNetwork: limits.returnsSessionsPerNetwork.most, all: limits.returnsSessions.most },
};

/** Look-ups of keys, SPF and DMARC records. */
const DNS = { timeoutMs: 3_000, tries: 3 };

type SmtpPort = Exclude<PortSetting, "PORT">;

/** The other wings' share: what follows from returned mail, and how suppressed recipients are announced. */
export interface PortHooks {
  readonly onMoved: OnMoved;
  readonly onUnsubscribed: OnUnsubscribed;
  readonly onReceived: OnReceived;
  readonly announceSuppressed: NonNullable<Parameters<typeof createAcceptor>[0]["announceSuppressed"]>;
}

export interface Inbound {
  /** The listening ports, null if not configured. Port 0 in the configuration takes any free port. */
  readonly inboundPort: number | null;
  readonly submissionPort: number | null;
  readonly submissionsPort: number | null;
  /** Closes the ports. Messages that are being received get `patienceMs` to finish. */
  stop(patienceMs: number): Promise<void>;
}

/** Ports of one purpose, and the processing behind them. */
interface Gate {
  readonly options: Omit<ListenerOptions, "port" | "isImplicitTls">;
  close(): Promise<void>;
}

/** @throws an Error for the operator if a port cannot be bound; nothing is left running then */
export async function openSmtpPorts(services: ProcessContext, hooks: PortHooks): Promise<Inbound> {
  const { config, log } = services;
  const { INBOUND_PORT, SUBMISSION_PORT, SUBMISSIONS_PORT } = config;
  if (INBOUND_PORT === null && SUBMISSION_PORT === null && SUBMISSIONS_PORT === null) {
    return { inboundPort: null, submissionPort: null, submissionsPort: null, stop: async () => {} };
  }
  const certificate = new Certificate(config, services.clock.now(), log);
  const inbound = INBOUND_PORT === null ? null : openInbound(services, certificate, hooks);
  const submission = openSubmission(services, certificate, hooks);
  const listeners: SmtpListener[] = [];
  const stop = async (patienceMs: number) => {
    await Promise.all(listeners.map((listener) => listener.stop(patienceMs)));
    certificate.close();
    await Promise.all([submission.close(), inbound?.close()]);
  };
  const listen = async (gate: Gate | null, setting: SmtpPort, isImplicitTls: boolean) => {
    const port = config[setting];
    if (gate === null || port === null) return null;
    const listener = await bindPort(
      config,
      setting,
      SmtpListener.start({ ...gate.options, port, isImplicitTls }),
    );
    listeners.push(listener);
    return listener.port;
  };
  try {
    const inboundPort = await listen(inbound, "INBOUND_PORT", false);
    if (inboundPort !== null) log.info({ port: inboundPort }, "listening for inbound mail");
    const submissionPort = await listen(submission, "SUBMISSION_PORT", false);
    if (submissionPort !== null)
      log.info({ port: submissionPort, isImplicitTls: false }, "listening for SMTP submission");
    const submissionsPort = await listen(submission, "SUBMISSIONS_PORT", true);
    if (submissionsPort !== null)
      log.info({ port: submissionsPort, isImplicitTls: true }, "listening for SMTP submission");
    return { inboundPort, submissionPort, submissionsPort, stop };
  } catch (fault) {
    await stop(0);
    throw fault;
  }
}

/** Returned mail and mail to inbound routes: the port stores it, the processing reads it afterwards. */
function openInbound(services: ProcessContext, certificate: Certificate, hooks: PortHooks): Gate {
  const { config, database, requests, clock, log, secrets } = services;
  const keys = { returnPath: returnPathKeys(secrets), link: mailLinkKeys(secrets) };
  const addresses = { clock, bounceDomain: config.BOUNCE_DOMAIN, keys };
  // Threads for received mail of their own: a flood of it must not delay bounces.
  const parsers = { signed: createMailParser(), open: createMailParser() };
  const receivedParser = createMailParser(RECEIVED_PARSING);
  const networkLog = new NetworkLog(log);
  const processing = startProcessing({
    ...addresses,
    db: database,
    parsers,
    log,
    onMoved: hooks.onMoved,
    onUnsubscribed: hooks.onUnsubscribed,
    sendPlatformMail: createPlatformMail(config.PLATFORM_SENDER, clock),
  });
  const receiving = startReceiving({
    db: database,
    clock,
    log,
    parser: receivedParser,
    resolver: createResolver({ servers: config.DNS_SERVERS, ...DNS }),
    hostname: config.MAIL_HOSTNAME,
    returnPathKeys: keys.returnPath,
    onReceived: hooks.onReceived,
  });
  const conversation: InboundConversationDeps = {
    addresses: { ...addresses, db: requests },
    returns: {
      db: requests,
      clock,
      log: networkLog,
      onStored: (mailClass) => processing.wake(mailClass),
    },
    routes: {
      db: requests,
      clock,
      plans: readPlans(config.PLANS_FILE),
      log: networkLog,
      memory: new ReceivingMemory(),
      scan: createSpamScan(config.SPAMD_URL && readSpamdUrl(config.SPAMD_URL), config.MAIL_HOSTNAME),
      onReceived: () => receiving.wake(),
    },
  };
  const options = {
    host: config.INBOUND_HOST ?? config.HOST,
    name: config.MAIL_HOSTNAME,
    needsLogin: false,
    takesAnySender: true,
    certificate,
    caps: new ConnectionCaps(INBOUND.sessions),
    memory: new MessageMemory(INBOUND.memoryBytes),
    mostBytes: INBOUND.mostBytes,
    log,
    networkLog,
    isProxy: trustedProxies("SMTP_PROXIES", config.SMTP_PROXIES),
    open: (network: string, ip: string) => new InboundConversation(conversation, network, ip),
  };
  return {
    options,
    async close() {
      await Promise.all([processing.stop(), receiving.stop()]);
      await Promise.all([parsers.signed, parsers.open, receivedParser].map((parser) => parser.close()));
    },
  };
}

/** Mail that programs submit. */
function openSubmission(services: ProcessContext, certificate: Certificate, hooks: PortHooks): Gate {
  const { config, requests: database, clock, log } = services;
  const lastUsed = createLastUsed({ db: services.database, clock, log });
  const authenticator = new KeyAuthenticator({
    findKey: (keyHash) => findKeyByHash(database, keyHash),
    clock,
    onUse: ({ workspaceId, actor }) => lastUsed.note(workspaceId, actor.id),
  });
  const reader = new SubmissionReader();
  const workers = new WorkerNotifier(database);
  const options = {
    host: config.INBOUND_HOST ?? config.HOST,
    name: config.MAIL_HOSTNAME,
    needsLogin: true,
    certificate,
    caps: new ConnectionCaps(SUBMISSION.sessions),
    memory: new MessageMemory(SUBMISSION.memoryBytes),
    mostBytes: SUBMISSION.mostBytes,
    log,
    networkLog: new NetworkLog(log),
    isProxy: trustedProxies("SMTP_PROXIES", config.SMTP_PROXIES),
    open: createSubmission({
      db: database,
      clock,
      acceptor: createAcceptor({
        db: database,
        clock,
        plans: readPlans(config.PLANS_FILE),
        onCommitted: () => workers.notify(),
        announceSuppressed: hooks.announceSuppressed,
        onLimit: new LimitNotices(log, () => clock.monotonicMs()).note,
      }),
      logins: createLogins({ authenticator, log }),
      reader,
      hostname: config.MAIL_HOSTNAME,
      platformFrom: config.DEFAULT_SENDER,
    }),
  };
  return {
    options,
    async close() {
      await Promise.all([lastUsed.flush(), reader.close()]);
    },
  };
}
