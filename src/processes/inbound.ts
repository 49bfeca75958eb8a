/** The role inbound: the wiring of everything that listens for SMTP. Nothing listens where no port is set. */
import { createWaker } from "#delivery/queue/channel.ts";
import { returnPathKeys } from "#delivery/return-path-key.ts";
import { Certificate } from "#inbound/listener/certificate.ts";
import { ConnectionCaps } from "#inbound/listener/connection-caps.ts";
import { type ListenerOptions, SmtpListener } from "#inbound/listener/listener.ts";
import { MessageMemory } from "#inbound/listener/message-data.ts";
import { NetworkLog } from "#inbound/listener/network-log.ts";
import { createMailParser } from "#inbound/parsing/parse-mail.ts";
import { LARGEST_MAIL, ReturnsConversation, type ReturnsDeps } from "#inbound/returns/conversation.ts";
import { startProcessing } from "#inbound/returns/processing.ts";
import { createLogins } from "#inbound/submission/login.ts";
import { createSubmission } from "#inbound/submission/submission.ts";
import { SubmissionReader } from "#inbound/submission/submission-reader.ts";
import { createAuthenticator } from "#platform/http/authenticate.ts";
import { limits } from "#platform/limits/limits.ts";
import { bindPort, type PortSetting } from "#platform/network/bind-port.ts";
import { createAcceptor } from "#sending/acceptance/acceptor.ts";
import { createPlatformMail } from "#sending/platform-mail/platform-mail.ts";
import { mailLinkKeys } from "#tracking/tokens.ts";
import { announceSuppressedSql } from "#webhooks/deliveries/suppressed-messages-store.ts";
import { createLastUsed } from "#workspace/api-keys/last-used.ts";
import { findKeyByHash } from "#workspace/api-keys/store.ts";
import { LimitNotices } from "#workspace/billing/limit-notices.ts";
import { readPlans } from "#workspace/billing/plans-file.ts";
import type { Services } from "./context.ts";
import { createReactions, onUnsubscribed } from "./reactions.ts";

const SUBMISSION = {
  mostBytes: 30 * 1024 * 1024,
  memoryBytes: 256 * 1024 * 1024,
  sessions: { perNetwork: limits.submissionSessionsPerNetwork.most, all: limits.submissionSessions.most },
};

/** The heap of mails under way is bounded apart. */
const RETURNS = {
  mostBytes: LARGEST_MAIL,
  memoryBytes: 160 * 1024 * 1024,
  sessions: { perNetwork: limits.returnsSessionsPerNetwork.most, all: limits.returnsSessions.most },
};

type SmtpPort = Exclude<PortSetting, "PORT">;

export interface Inbound {
  /** Where it listens: 0 in the configuration takes any free port. */
  readonly inboundPort: number | null;
  readonly submissionPort: number | null;
  readonly submissionsPort: number | null;
  /** Messages under way may take so long. */
  stop(patienceMs: number): Promise<void>;
}

/** Ports of one purpose, and what runs behind them. */
interface Gate {
  readonly options: Omit<ListenerOptions, "port" | "isImplicitTls">;
  close(): Promise<void>;
}

/** @throws an Error for the operator when a port cannot be had; nothing is left running then */
export async function startInbound(services: Services): Promise<Inbound> {
  const { config, log } = services;
  const { INBOUND_PORT, SUBMISSION_PORT, SUBMISSIONS_PORT } = config;
  if (INBOUND_PORT === null && SUBMISSION_PORT === null && SUBMISSIONS_PORT === null) {
    return { inboundPort: null, submissionPort: null, submissionsPort: null, stop: async () => {} };
  }
  const certificate = new Certificate(config, services.clock.now(), log);
  const returns = INBOUND_PORT === null ? null : openReturns(services, certificate);
  const submission = openSubmission(services, certificate);
  const listeners: SmtpListener[] = [];
  const stop = async (patienceMs: number) => {
    await Promise.all(listeners.map((listener) => listener.stop(patienceMs)));
    certificate.close();
    await Promise.all([submission.close(), returns?.close()]);
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
    const inboundPort = await listen(returns, "INBOUND_PORT", false);
    if (inboundPort !== null) log.info({ port: inboundPort }, "the port for mail that comes back listens");
    const submissionPort = await listen(submission, "SUBMISSION_PORT", false);
    if (submissionPort !== null)
      log.info({ port: submissionPort, isImplicitTls: false }, "SMTP submission listens");
    const submissionsPort = await listen(submission, "SUBMISSIONS_PORT", true);
    if (submissionsPort !== null)
      log.info({ port: submissionsPort, isImplicitTls: true }, "SMTP submission listens");
    return { inboundPort, submissionPort, submissionsPort, stop };
  } catch (fault) {
    await stop(0);
    throw fault;
  }
}

/** Mail that comes back: taken by the port, processed behind it. */
function openReturns(services: Services, certificate: Certificate): Gate {
  const { config, database, clock, log, secrets } = services;
  const addresses = {
    db: database,
    clock,
    bounceDomain: config.BOUNCE_DOMAIN,
    keys: { returnPath: returnPathKeys(secrets), link: mailLinkKeys(secrets) },
  };
  const parsers = { signed: createMailParser(), open: createMailParser() };
  const networkLog = new NetworkLog(log);
  const processing = startProcessing({
    ...addresses,
    parsers,
    log,
    onMoved: createReactions(clock),
    onUnsubscribed,
    sendPlatformMail: createPlatformMail(config.PLATFORM_SENDER, clock),
  });
  const returnsDeps: ReturnsDeps = {
    ...addresses,
    db: services.requests,
    log: networkLog,
    onStored: (mailClass) => processing.wake(mailClass),
  };
  const options = {
    host: config.INBOUND_HOST ?? config.HOST,
    name: config.MAIL_HOSTNAME,
    needsLogin: false,
    takesAnySender: true,
    certificate,
    caps: new ConnectionCaps(RETURNS.sessions),
    memory: new MessageMemory(RETURNS.memoryBytes),
    mostBytes: RETURNS.mostBytes,
    log,
    networkLog,
    open: (network: string) => new ReturnsConversation(returnsDeps, network),
  };
  return {
    options,
    async close() {
      await processing.stop();
      await Promise.all([parsers.signed.close(), parsers.open.close()]);
    },
  };
}

/** Mail that programs hand in. */
function openSubmission(services: Services, certificate: Certificate): Gate {
  const { config, requests: database, clock, log } = services;
  const lastUsed = createLastUsed({ db: services.database, clock, log });
  const authenticator = createAuthenticator({
    findKey: (keyHash) => findKeyByHash(database, keyHash),
    clock,
    onUse: (caller) => lastUsed.note(caller),
  });
  const reader = new SubmissionReader();
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
    open: createSubmission({
      db: database,
      clock,
      acceptor: createAcceptor({
        db: database,
        clock,
        plans: readPlans(config.PLANS_FILE),
        onCommitted: createWaker(database),
        announceSuppressed: announceSuppressedSql,
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
