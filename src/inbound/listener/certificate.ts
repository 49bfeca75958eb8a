import { createPrivateKey, X509Certificate } from "node:crypto";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "#platform/config/config.ts";
import type { Log } from "#platform/log/log.ts";
import { type CertificatePair, makeSelfSigned } from "./self-signed.ts";

/** How often the operator's files are looked at. */
const RELOAD_MS = 60_000;
const SELF_SIGNED_FILE = "smtp-tls.pem";

/**
 * The TLS certificate of the SMTP ports: the operator's files, read again when they change, or a self-signed one that is
 * kept in DATA_DIR.
 */
export class Certificate {
  readonly #files: { readonly cert: string; readonly key: string } | null;
  readonly #log: Log;
  readonly #onChange = new Set<(pair: CertificatePair) => void>();
  readonly #reloading: NodeJS.Timeout | undefined;
  #current: CertificatePair;

  /** @throws when the files cannot be read, or the key is not that of the certificate */
  constructor(
    config: Pick<Config, "TLS_CERT_FILE" | "TLS_KEY_FILE" | "DATA_DIR" | "MAIL_HOSTNAME">,
    now: Date,
    log: Log,
    reloadMs = RELOAD_MS,
  ) {
    const { TLS_CERT_FILE: cert, TLS_KEY_FILE: key } = config;
    this.#log = log;
    this.#files = cert === null || key === null ? null : { cert, key };
    this.#current = this.#files === null ? selfSignedPair(config, now) : readPair(this.#files);
    if (this.#files !== null) this.#reloading = setInterval(() => this.#reload(), reloadMs).unref();
  }

  get current(): CertificatePair {
    return this.#current;
  }

  /** Calls the listener with each new certificate. @returns a function that removes the listener */
  onChange(listener: (pair: CertificatePair) => void): () => void {
    this.#onChange.add(listener);
    return () => this.#onChange.delete(listener);
  }

  close(): void {
    clearInterval(this.#reloading);
  }

  #reload(): void {
    if (this.#files === null) return;
    try {
      const pair = readPair(this.#files);
      if (pair.cert === this.#current.cert && pair.key === this.#current.key) return;
      this.#current = pair;
      for (const listener of this.#onChange) listener(pair);
      this.#log.info("TLS certificate of the SMTP ports reloaded");
    } catch (err) {
      this.#log.error({ err }, "TLS certificate cannot be read: the SMTP ports keep the one they have");
    }
  }
}

function readPair(files: { readonly cert: string; readonly key: string }): CertificatePair {
  return checked({ cert: readFileSync(files.cert, "utf8"), key: readFileSync(files.key, "utf8") });
}

function checked(pair: CertificatePair): CertificatePair {
  if (!new X509Certificate(pair.cert).checkPrivateKey(createPrivateKey(pair.key))) {
    throw new Error("the private key is not that of the certificate");
  }
  return pair;
}

/** The pair of DATA_DIR; a new one when there is none, or it has expired or names another host. */
function selfSignedPair(
  { DATA_DIR, MAIL_HOSTNAME }: Pick<Config, "DATA_DIR" | "MAIL_HOSTNAME">,
  now: Date,
): CertificatePair {
  // Key and certificate are in one file, so that a crash cannot leave the parts of two pairs.
  const file = join(DATA_DIR, SELF_SIGNED_FILE);
  if (existsSync(file)) {
    const pem = readFileSync(file, "utf8");
    const kept = new X509Certificate(pem);
    const isUsable = new Date(kept.validTo) > now && kept.checkHost(MAIL_HOSTNAME) !== undefined;
    if (isUsable) return checked({ key: pem, cert: pem });
  }
  const { key, cert } = makeSelfSigned(MAIL_HOSTNAME, now);
  const fresh = `${file}.${process.pid}`;
  writeFileSync(fresh, `${key}${cert}`, { mode: 0o600 });
  renameSync(fresh, file);
  return checked({ key, cert });
}
