/** Chooses the links and images of a mail whose servers are asked: each address once, the first ones of each kind. */

import type { AskedKind } from "./ask-server.ts";
import type { AskedTarget } from "./ask-servers.ts";
import { positionsIn } from "./findings.ts";

/** A link or image with an absolute http(s) address. */
export interface OutsideTarget {
  readonly kind: AskedKind;
  readonly url: string;
  /** Offset in the HTML. */
  readonly at: number;
}

/** An address with the place where it occurs first. */
export interface PlacedTarget extends AskedTarget {
  readonly line: number;
  readonly column: number;
  readonly occurrences: number;
}

export interface ChosenTargets {
  readonly targets: readonly PlacedTarget[];
  /** Addresses beyond the limit, and those that are too long. */
  readonly leftOut: Readonly<Record<AskedKind, number>>;
}

/** Addresses of each kind that are asked. */
const MOST_ASKED = 50;
/** Longer addresses are not asked. */
const LONGEST_ADDRESS = 2_000;
/** Opening such a link may unsubscribe a person. */
const unsubscribes = /unsubscri|opt-?out|abmeld|austrag|d[ée]s(?:abonn|inscri)|cancelar-?suscrip|disiscri/i;

/** @param own base URLs of the service itself, whose links count an open or a click, or unsubscribe */
export function chooseTargets(
  html: string,
  found: readonly OutsideTarget[],
  own: readonly string[],
): ChosenTargets {
  const ownHosts = new Set(own.map((base) => new URL(base).host));
  const distinct = new Map<string, { readonly first: OutsideTarget; occurrences: number }>();
  for (const { kind, url, at } of found) {
    const parsed = new URL(url);
    if (ownHosts.has(parsed.host) || unsubscribes.test(url)) continue;
    parsed.hash = "";
    const key = `${kind} ${parsed.href}`;
    const known = distinct.get(key);
    if (known !== undefined) known.occurrences += 1;
    else distinct.set(key, { first: { kind, url: parsed.href, at }, occurrences: 1 });
  }
  const leftOut = { link: 0, image: 0 };
  const room = { link: MOST_ASKED, image: MOST_ASKED };
  const positionOf = positionsIn(html);
  const targets = [...distinct.values()].flatMap(({ first: { kind, url, at }, occurrences }) => {
    if (room[kind] === 0 || url.length > LONGEST_ADDRESS) {
      leftOut[kind] += 1;
      return [];
    }
    room[kind] -= 1;
    return [{ kind, url, ...positionOf(at), occurrences }];
  });
  return { targets, leftOut };
}
