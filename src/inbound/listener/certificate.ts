/**
 * The TLS certificate of the SMTP ports: the operator's files, read again when they change (renewals come every few
 * weeks), or one of our own making, kept in DATA_DIR.
 */

import { createPrivateKey, X509Certificate } from "node:crypto";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "#platform/config/config.ts";
import type { Log } from "#platform/log/log.ts";
import type { CertificatePair } from "./self-signed.ts";
import { makeSelfSigned } from "./self-signed.ts";

export interface Certificate {
  readonly current: CertificatePair;
  /** Tells of every new one; gives what ends that. */
  onChange(tell: (pair: CertificatePair) => void): () => void;
  close(): void;
}

const LOOK_MS = 60_000;
const OWN_FILE = "smtp-tls.pem";

/** @throws when the files cannot be read or do not belong together */
export function openCertificate(
  config: Pick<Config, "TLS_CERT_FILE" | "TLS_KEY_FILE" | "DATA_DIR" | "MAIL_HOSTNAME">,
  now: Date,
  log: Log,
  lookMs = LOOK_MS,
): Certificate {
  const { TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile } = config;
  const listeners = new Set<(pair: CertificatePair) => void>();
  const isOwn = certFile === null || keyFile === null;
  let current = isOwn ? ownPair(config, now) : readPair(certFile, keyFile);
  const look = () => {
    if (isOwn) return;
    try {
      const pair = readPair(certFile, keyFile);
      if (pair.cert === current.cert && pair.key === current.key) return;
      current = pair;
      for (const tell of listeners) tell(pair);
      log.info("the SMTP ports use a new TLS certificate");
    } catch (err) {
      log.error({ err }, "the TLS certificate cannot be read: the SMTP ports keep the one they have");
    }
  };
  const looking = setInterval(look, lookMs).unref();
  return {
    get current() {
      return current;
    },
    onChange(tell) {
      listeners.add(tell);
      return () => listeners.delete(tell);
    },
    close: () => clearInterval(looking),
  };
}

function readPair(certFile: string, keyFile: string): CertificatePair {
  return checked({ cert: readFileSync(certFile, "utf8"), key: readFileSync(keyFile, "utf8") });
}

function checked(pair: CertificatePair): CertificatePair {
  if (!new X509Certificate(pair.cert).checkPrivateKey(createPrivateKey(pair.key))) {
    throw new Error("the private key is not that of the certificate");
  }
  return pair;
}

/** Key and certificate stand in one file, so that they are always those of each other. */
function ownPair(
  { DATA_DIR, MAIL_HOSTNAME }: Pick<Config, "DATA_DIR" | "MAIL_HOSTNAME">,
  now: Date,
): CertificatePair {
  const file = join(DATA_DIR, OWN_FILE);
  if (existsSync(file)) {
    const pem = readFileSync(file, "utf8");
    const kept = new X509Certificate(pem);
    const isOfUse = new Date(kept.validTo) > now && kept.checkHost(MAIL_HOSTNAME) !== undefined;
    if (isOfUse) return checked({ key: pem, cert: pem });
  }
  const { key, cert } = makeSelfSigned(MAIL_HOSTNAME, now);
  const fresh = `${file}.${process.pid}`;
  writeFileSync(fresh, `${key}${cert}`, { mode: 0o600 });
  renameSync(fresh, file);
  return checked({ key, cert });
}
