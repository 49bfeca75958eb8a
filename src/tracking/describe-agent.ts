/**
 * What a User-Agent says about the device, the operating system and the mail program or browser. Programs of mail are
 * recognized here, browsers and operating systems by bowser. Names come from fixed lists, never from the User-Agent, which
 * its sender chooses.
 */
import Bowser from "bowser";

export const devices = ["desktop", "phone", "tablet", "other", "unknown"] as const;

export interface Agent {
  readonly device: (typeof devices)[number];
  /** null when it is not known. */
  readonly system: string | null;
  /** A mail program, the proxy of a mail service, or a browser; null when it is not known. */
  readonly client: string | null;
}

/**
 * Mail programs and proxies by a part of their User-Agent, in this order: some name others. A proxy hides the device and the
 * system of its reader: what it names is invented.
 */
const mailPrograms: readonly (readonly [RegExp, client: string, isProxy?: "proxy"])[] = [
  [/GoogleImageProxy/, "Gmail", "proxy"],
  [/YahooMailProxy/, "Yahoo Mail", "proxy"],
  [/OutlookMobileImageProxy/, "Outlook for phones", "proxy"],
  [/^Mozilla\/5\.0$/, "Apple Mail Privacy Protection", "proxy"],
  [/Outlook-iOS|Outlook-Android/, "Outlook for phones"],
  [/Microsoft Outlook|MSOffice|ms-office|Microsoft Office/, "Outlook"],
  [/Thunderbird\//, "Thunderbird"],
  [/SamsungEmail|SamsungMail/i, "Samsung Email"],
  [/eM ?Client/, "eM Client"],
  [/\bAirMail\b/i, "Airmail"],
  [/PostboxApp|Postbox\//, "Postbox"],
  [/Lotus-Notes|HCL-Notes/, "Notes"],
  [/Evolution\//, "Evolution"],
  [/KMail|Kontact/, "KMail"],
  [/FairEmail/, "FairEmail"],
];

/** WebKit without a browser around it: Apple Mail, or a page inside an app. */
const bareWebKit =
  /^Mozilla\/5\.0 \((?:Macintosh|iPhone|iPad|iPod).*AppleWebKit\/[\d.]+ \(KHTML, like Gecko\)(?: Mobile\/\w+)?$/;

const knownBrowsers: ReadonlySet<string> = new Set(Object.values(Bowser.BROWSER_MAP));
const knownSystems: ReadonlySet<string> = new Set(Object.values(Bowser.OS_MAP));

/** @param kind of the event: the programs that show pictures are others than those that open links */
export function describeAgent(agent: string, kind: "opened" | "clicked"): Agent {
  const program = mailPrograms.find(([pattern]) => pattern.test(agent));
  if (program?.[2] === "proxy") return { device: "unknown", system: null, client: program[1] };
  if (agent === "") return { device: "unknown", system: null, client: null };
  const { browser, os, platform } = Bowser.parse(agent);
  const system = knownSystems.has(os.name ?? "") ? (os.name ?? null) : null;
  return {
    device: deviceOf(platform.type),
    system,
    client: program?.[1] ?? clientOf(agent, kind, browser.name),
  };
}

function clientOf(agent: string, kind: "opened" | "clicked", browser: string | undefined): string | null {
  if (bareWebKit.test(agent)) return kind === "opened" ? "Apple Mail" : "An app on an Apple device";
  return browser !== undefined && knownBrowsers.has(browser) ? browser : null;
}

function deviceOf(type: string | undefined): Agent["device"] {
  switch (type) {
    case "desktop":
    case "tablet":
      return type;
    case "mobile":
      return "phone";
    default:
      return type === undefined ? "unknown" : "other";
  }
}
