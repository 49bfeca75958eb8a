/** Starts the Chromium or Chrome that is installed. */
import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

const executable = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
].find((path) => existsSync(path));

export const isChromiumInstalled = executable !== undefined;

/** The host evil.example is this machine. Nothing is asked of the browser's vendor. */
export function launchChromium(): Promise<Browser> {
  if (executable === undefined) throw new Error("neither Chromium nor Chrome is installed");
  return chromium.launch({
    executablePath: executable,
    args: [
      "--host-resolver-rules=MAP evil.example 127.0.0.1",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      "--no-first-run",
      // Chromium's sandbox does not run as root.
      ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []),
    ],
  });
}
