/** The pictures of the console that are kept as references: each page with data in both themes, and its other states. */
import { inside, linked, outside, views } from "./console-routes.ts";

/**
 * `filtered`: no row meets the filter; `late`: the API has not answered yet; `failing`: it answers with a failure; `lacking`: of
 * a person whose role may do nothing there.
 */
export type PictureState = "data" | "empty" | "filtered" | "late" | "failing" | "lacking";

export interface Picture {
  /** The name of its file. */
  readonly name: string;
  /** As in console-routes.ts. */
  readonly page: string;
  readonly state: PictureState;
  readonly screen: "desk" | "phone";
  readonly theme: "light" | "dark";
}

/** Pages that people open on a phone. */
const onPhones = [
  "sign-in",
  "",
  "campaigns",
  "campaigns/$campaign",
  "campaigns/$campaign?step=send",
  "campaigns/$sent",
  "lists",
  "lists/$list",
  "people",
  "people/$person",
  "messages",
  "messages/$message",
  "suppression",
  "domains/$domain",
  "team",
] as const;

/** A filter of each list that no row of the seed meets. */
const filtered = [
  "campaigns?search=zzz",
  "campaigns/$sent?tab=recipients&email=zzz@example.com",
  "jobs?status=failed",
  "lists/$list?search=zzz",
  "messages?email=zzz@example.com",
  "people?search=zzz",
  "segments?search=zzz",
  "suppression/$list?search=zzz",
] as const;

/** Pages that load in ways of their own; the others are tables and forms as these. */
const oneOfEachKind = [
  "",
  "account",
  "campaigns",
  "campaigns/$campaign",
  "campaigns/$sent",
  "domains",
  "domains/$domain",
  "lists/$list",
  "messages",
  "messages/$message",
  "people/$person",
  "suppression",
  "team",
] as const;

/** Home and the account are open to every role; the others say what the role lacks. */
const lacking = ["", "account", "messages"] as const;

export const pictures: readonly Picture[] = [
  ...[...outside, ...linked, ...views].flatMap((page) => [
    picture(page, "data", "light"),
    picture(page, "data", "dark"),
  ]),
  ...onPhones.map((page) => picture(page, "data", "dark", "phone")),
  ...inside.filter((page) => !page.includes("$")).map((page) => picture(page, "empty", "light")),
  ...filtered.map((page) => picture(page, "filtered", "light")),
  ...oneOfEachKind.map((page) => picture(page, "late", "dark")),
  ...oneOfEachKind.map((page) => picture(page, "failing", "dark")),
  ...lacking.map((page) => picture(page, "lacking", "light")),
];

function picture(
  page: string,
  state: PictureState,
  theme: Picture["theme"],
  screen: Picture["screen"] = "desk",
): Picture {
  const filled = page === "" ? "home" : page;
  const place = filled.replace(/&.*|search=.*|email=.*|status=.*/, "").replaceAll(/[^\w]+/g, "-");
  const parts = [
    place.replace(/-$/, ""),
    state === "data" ? "" : state,
    screen === "phone" ? screen : "",
    theme,
  ];
  return { name: parts.filter(Boolean).join("."), page, state, screen, theme };
}
