/**
 * docs/transactional.md: the guide shows the programs of docs/transactional/ as they are, its commands run in their order, and
 * each program sends a mail through the real service, in the languages that are installed.
 */
import { execFile, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "#test/support/eventually.ts";
import { freePort } from "#test/support/free-port.ts";
import { guideBlocks } from "#test/support/guide-blocks.ts";
import { addVerifiedDomain } from "#test/support/publish.ts";
import { hasReaderTools, ReaderShell } from "#test/support/reader-shell.ts";
import { openScene, type Scene } from "#test/support/scene.ts";

const run = promisify(execFile);
const PAGE = "transactional.md";
const programs = fileURLToPath(new URL("../../docs/transactional/", import.meta.url));
const languages: Readonly<Record<string, string>> = { mjs: "js", php: "php", py: "python", rb: "ruby" };

test("the guide shows every program as it is", async () => {
  for (const name of await readdir(programs)) {
    const shown = guideBlocks(PAGE, languages[name.split(".").at(-1) ?? ""] ?? "");
    expect(shown).toContain(await readFile(join(programs, name), "utf8"));
  }
});

/** The first of these commands that can run the code; undefined where the language or a library is missing. */
function interpreter(commands: readonly string[], option: string, code: string): string | undefined {
  return commands.find((command) => spawnSync(command, [option, code]).status === 0);
}
const node = process.execPath;
const python = interpreter(["python3"], "-c", "import ssl");
const php = interpreter(["php"], "-r", "curl_version();");
const symfony = interpreter(["php"], "-r", "require 'Symfony/Component/Mailer/autoload.php';");
const django = interpreter(["python3", "/usr/bin/python3"], "-c", "import django");
const ruby = interpreter(["ruby"], "-e", "require 'net/http'");
const actionMailer = interpreter(["ruby"], "-e", "require 'action_mailer'");

const byHttp = [
  ["send-http.mjs", node],
  ["send-http.php", php],
  ["send_http.py", python],
  ["send_http.rb", ruby],
] as const;
const bySmtp = [
  ["send-smtp.mjs", node],
  ["send-smtp.php", symfony],
  ["send_smtp.py", python],
  ["send_smtp.rb", actionMailer],
] as const;

describe.skipIf(!hasReaderTools("jq", "openssl"))("with bash, curl, jq and openssl", () => {
  const [start = "", sender = "", key = "", smtp = "", curl = "", webhook = "", bounce = "", ...more] =
    guideBlocks(PAGE, "sh");
  let folder: string;
  let scene: Scene;
  let shell: ReaderShell;
  let receiverPort: number;
  let env: Record<string, string>;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "posthaste-programs-"));
    // The loader of composer, in place of which Debian's package has its own.
    await mkdir(join(folder, "vendor"));
    const loader = "<?php require 'Symfony/Component/Mailer/autoload.php';\n";
    await writeFile(join(folder, "vendor/autoload.php"), loader);
    scene = await openScene({
      env: {
        DATA_DIR: join(folder, "data"),
        MAIL_MODE: "capture",
        MAIL_HOSTNAME: "localhost",
        SUBMISSION_PORT: "0",
        ALLOW_PRIVATE_WEBHOOKS: "true",
      },
    });
    await addVerifiedDomain(scene.program.call, scene.dns, "example.org");
    receiverPort = await freePort();
    shell = new ReaderShell({
      folder,
      url: scene.program.url,
      given: { KEY: `efk_${"e2e0".repeat(10)}` },
      inPlaceOf: { "5870": String(await submissionPortOf(scene)), "8090": String(receiverPort) },
    });
    for (const block of [sender, key, smtp]) await shell.run(block);
    env = await environmentOf(shell);
  });
  afterAll(async () => {
    await shell[Symbol.asyncDispose]();
    await scene[Symbol.asyncDispose]();
    await rm(folder, { recursive: true });
  });

  test("every block of the guide is run here, except for the start", () => {
    expect([start.includes("npm start"), bounce === "", more]).toEqual([true, false, []]);
  });

  /** Runs a program for an order; resolves to what it printed and its exit code. */
  async function send(name: string, command: string, order: string, changes: Readonly<object> = {}) {
    const words = [join(programs, name), "ada@example.com", order];
    const options = { cwd: folder, env: { ...env, ...changes } };
    try {
      const { stdout } = await run(command, words, options);
      return { printed: stdout.trim(), code: 0 };
    } catch (fault) {
      const { stderr, code } = fault as { stderr: string; code: number };
      return { printed: stderr, code };
    }
  }
  const mailsFor = async (order: string) => {
    const { body } = await scene.program.call("GET", `/messages?subject=Your+order+${order}`);
    return body.data.messages as { readonly id: string; readonly source: string; readonly subject: string }[];
  };

  test("the curl of the guide sends a mail", async () => {
    expect(await shell.run(curl)).toContain('"status":"queued"');
  });

  test.concurrent.for(byHttp)(
    "%s sends a mail once, and shows a refusal",
    async ([name, command], { expect, skip }) => {
      if (command === undefined) return skip("its language, or a library, is not installed");
      const first = await send(name, command, name);
      await scene.messageWhen("delivered", first.printed);
      expect(await send(name, command, name)).toEqual(first);
      expect(await mailsFor(name)).toHaveLength(1);
      const refused = await send(name, command, name, { POSTHASTE_KEY: "efk_wrong" });
      expect([refused.code === 0, refused.printed]).toEqual([false, expect.stringContaining("UNAUTHORIZED")]);
    },
  );

  test.concurrent.for(bySmtp)(
    "%s sends a mail over TLS, and shows a refusal",
    async ([name, command], { expect, skip }) => {
      if (command === undefined) return skip("its language, or a library, is not installed");
      expect(await send(name, command, name)).toMatchObject({ code: 0 });
      const [mail] = await mailsFor(name);
      expect(mail?.source).toBe("smtp");
      await scene.messageWhen("delivered", mail?.id ?? "");
      const refused = await send(name, command, name, { POSTHASTE_KEY: "efk_wrong" });
      expect([refused.code === 0, refused.printed]).toEqual([false, expect.stringContaining("535")]);
      const strange = await send(name, command, name, { SSL_CERT_FILE: "", NODE_EXTRA_CA_CERTS: "" });
      expect([strange.code === 0, strange.printed]).toEqual([false, expect.stringMatching(/certificate/i)]);
      expect(await mailsFor(name)).toHaveLength(1);
    },
  );

  test.skipIf(django === undefined)("Django sends a mail with the settings of the guide", async () => {
    const code =
      "from django.core.mail import send_mail\n" +
      "send_mail('Your order django', 'It is on its way.', None, ['ada@example.com'])";
    const settings = {
      PYTHONPATH: programs,
      PYTHONDONTWRITEBYTECODE: "1",
      DJANGO_SETTINGS_MODULE: "django_settings",
    };
    await run(django ?? "", ["-c", code], { env: { ...env, ...settings } });
    const [mail] = await mailsFor("django");
    await scene.messageWhen("delivered", mail?.id ?? "");
  });

  test("bounces.mjs prints who gets no more mail, and refuses an event without a signature", async () => {
    await shell.run(webhook);
    const settings = { ...(await environmentOf(shell)), PORT: String(receiverPort) };
    const receiver = spawn(node, [join(programs, "bounces.mjs")], { env: settings });
    const printed: string[] = [];
    createInterface(receiver.stdout).on("line", (line) => printed.push(line));
    try {
      await eventually("the receiver", async () => printed.length > 0);
      await shell.run(bounce);
      await eventually("the event", async () => printed.length > 1);
      expect(printed[1]).toBe("no more mail to bob+bounce@example.com: 550 5.1.1 No such user here");
      const forged = { type: "message.complained", data: { to: "ada@example.com" } };
      const url = `http://127.0.0.1:${receiverPort}/`;
      expect((await fetch(url, { method: "POST", body: JSON.stringify(forged) })).status).toBe(401);
      expect(printed).toHaveLength(2);
    } finally {
      receiver.kill();
      await once(receiver, "exit");
    }
  });
});

function submissionPortOf({ program }: Scene): Promise<number> {
  return eventually(
    "the submission port",
    async () => program.logged("listening for SMTP submission").at(-1)?.port,
  );
}

/** What the blocks have exported so far. */
async function environmentOf(shell: ReaderShell): Promise<Record<string, string>> {
  const lines = (await shell.run("env")).split("\n");
  return Object.fromEntries(
    lines.flatMap((line) => {
      const at = line.indexOf("=");
      return at > 0 ? [[line.slice(0, at), line.slice(at + 1)]] : [];
    }),
  );
}
