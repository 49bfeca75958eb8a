/**
 * A real Postfix as a receiving server or as a client of the submission port: a private instance whose configuration,
 * queue and mailboxes are in one temporary folder. Like every Postfix it needs root.
 */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { eventually } from "./eventually.ts";
import { freePort, isListening } from "./free-port.ts";

export interface Postfix extends AsyncDisposable {
  /** Of the SMTP listener on 127.0.0.1. */
  readonly port: number;
  /** The delivered messages of one local part. */
  mailbox(localpart: string): Promise<string[]>;
}

export const isPostfixInstalled = process.getuid?.() === 0 && canRun("postconf", ["-d", "mail_version"]);

const ADDRESS = "127.0.0.1";

const pem = (name: string) => fileURLToPath(new URL(`fake-mx-${name}.pem`, import.meta.url));

/** The services of master.cf that receiving and delivering needs. */
const services = [
  "cleanup   unix n - n - 0 cleanup",
  "qmgr      unix n - n 300 1 qmgr",
  "tlsmgr    unix - - n 1000? 1 tlsmgr",
  "rewrite   unix - - n - - trivial-rewrite",
  "bounce    unix - - n - 0 bounce",
  "defer     unix - - n - 0 bounce",
  "trace     unix - - n - 0 bounce",
  "flush     unix n - n 1000? 0 flush",
  "smtp      unix - - n - - smtp",
  "error     unix - - n - - error",
  "retry     unix - - n - - error",
  "virtual   unix - n n - - virtual",
  "anvil     unix - - n - 1 anvil",
  "postlog   unix-dgram n - n - 1 postlogd",
];

/** A smart host for mail to other domains, with a login and over TLS. */
export interface SmartHost {
  readonly port: number;
  readonly password: string;
}

/** Starts a Postfix that accepts mail of `domain` for these local parts, and relays other mail if it has a smart host. */
export async function startPostfix(
  domain: string,
  localparts: readonly string[],
  smartHost?: SmartHost,
): Promise<Postfix> {
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), "posthaste-postfix-"));
  const at = (name: string) => join(folder, name);
  for (const name of ["conf", "queue", "data", "mail"]) await mkdir(at(name));
  // The mailboxes belong to the user of Postfix, and the folder of mkdtemp is accessible to root only.
  const [uid, gid] = [idOfPostfix("-u"), idOfPostfix("-g")];
  await chmod(folder, 0o755);
  for (const name of ["data", "mail"]) await chown(at(name), uid, gid);
  const settings = {
    compatibility_level: "3.6",
    queue_directory: at("queue"),
    data_directory: at("data"),
    maillog_file: at("log"),
    maillog_file_prefixes: folder,
    myhostname: `mx.${domain}`,
    mydestination: "",
    mynetworks: "",
    inet_interfaces: ADDRESS,
    alias_maps: "",
    alias_database: "",
    local_recipient_maps: "",
    smtpd_relay_restrictions: "reject_unauth_destination",
    smtpd_tls_security_level: "may",
    smtpd_tls_cert_file: pem("certificate"),
    smtpd_tls_key_file: pem("key"),
    virtual_mailbox_domains: domain,
    virtual_mailbox_base: at("mail"),
    virtual_mailbox_maps: `inline:{${localparts.map((name) => ` { ${name}@${domain} = ${name}/ }`).join(",")} }`,
    virtual_uid_maps: `static:${uid}`,
    virtual_gid_maps: `static:${gid}`,
    ...(smartHost && {
      mynetworks: "127.0.0.0/8",
      smtpd_relay_restrictions: "permit_mynetworks, reject_unauth_destination",
      relayhost: `[${ADDRESS}]:${smartHost.port}`,
      smtp_tls_security_level: "encrypt",
      smtp_sasl_auth_enable: "yes",
      smtp_sasl_security_options: "noanonymous",
      smtp_sasl_password_maps: `inline:{ { [${ADDRESS}]:${smartHost.port} = api:${smartHost.password} } }`,
    }),
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}\n`);
  await writeFile(at("conf/main.cf"), lines.join(""));
  await writeFile(
    at("conf/master.cf"),
    `${[`${ADDRESS}:${port} inet n - n - - smtpd`, ...services].join("\n")}\n`,
  );

  const master = spawn("postfix", ["-c", at("conf"), "start-fg"], { stdio: "ignore" });
  const ended = once(master, "exit");
  const stop = async () => {
    master.kill("SIGTERM");
    await ended;
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    await eventually("Postfix to listen", () => isListening(port));
  } catch (cause) {
    const log = await readFile(at("log"), "utf8").catch(() => "no log");
    await stop();
    throw new Error(`Postfix did not start:\n${log}`, { cause });
  }
  return {
    port,
    async mailbox(localpart) {
      const box = join(at("mail"), localpart, "new");
      const names = await readdir(box).catch(() => []);
      return Promise.all(names.map((name) => readFile(join(box, name), "latin1")));
    },
    [Symbol.asyncDispose]: stop,
  };
}

function idOfPostfix(option: "-u" | "-g"): number {
  return Number(execFileSync("id", [option, "postfix"]));
}

function canRun(program: string, args: readonly string[]): boolean {
  try {
    execFileSync(program, args, { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
