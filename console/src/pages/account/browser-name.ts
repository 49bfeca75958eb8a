/** What a browser calls itself, as people know it: "Firefox on Windows". */

/** The first that fits: most browsers name others, too. */
const browsers: readonly (readonly [RegExp, string])[] = [
  [/Edg/, "Edge"],
  [/OPR|Opera/, "Opera"],
  [/Firefox|FxiOS/, "Firefox"],
  [/Chrome|CriOS|Chromium/, "Chrome"],
  [/Safari/, "Safari"],
  [/^curl/, "curl"],
];
const systems: readonly (readonly [RegExp, string])[] = [
  [/iPhone|iPad/, "iOS"],
  [/Android/, "Android"],
  [/Windows/, "Windows"],
  [/Mac OS/, "macOS"],
  [/CrOS/, "ChromeOS"],
  [/Linux/, "Linux"],
];

export function browserName(agent: string): string {
  const nameIn = (list: typeof browsers) => list.find(([pattern]) => pattern.test(agent))?.[1];
  const system = nameIn(systems);
  const browser = nameIn(browsers) ?? (agent.slice(0, 40) || "Unknown program");
  return system === undefined ? browser : `${browser} on ${system}`;
}
