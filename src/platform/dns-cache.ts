/**
 * Remembers DNS answers for a while. Bounded: the answer not used for longest makes room. A failure is never
 * remembered, and a question that is already under way is not asked twice.
 */
import type { Clock } from "./clock.ts";
import type { NetworkResolver } from "./dns.ts";

export interface DnsCacheOptions {
  /** Answers kept of each record type. */
  readonly entries: number;
  /** Life of found records and of absences. */
  readonly positiveSeconds: number;
  readonly negativeSeconds: number;
}

interface Remembered<Answer> {
  readonly answer: Answer;
  /** Milliseconds since the epoch. */
  readonly until: number;
}

/** The same resolver with a memory. */
export function cacheAnswers(
  resolver: NetworkResolver,
  options: DnsCacheOptions,
  clock: Clock,
): NetworkResolver {
  return {
    mx: remember(resolver.mx, options, clock),
    ipv4: remember(resolver.ipv4, options, clock),
    ipv6: remember(resolver.ipv6, options, clock),
    txt: remember(resolver.txt, options, clock),
    cname: remember(resolver.cname, options, clock),
    ns: remember(resolver.ns, options, clock),
  };
}

function remember<Answer extends { readonly outcome: "found" | "absent" | "failed" }>(
  ask: (name: string) => Promise<Answer>,
  { entries, positiveSeconds, negativeSeconds }: DnsCacheOptions,
  clock: Clock,
): (name: string) => Promise<Answer> {
  const seconds = { found: positiveSeconds, absent: negativeSeconds };
  const remembered = new Map<string, Remembered<Answer>>();
  const underWay = new Map<string, Promise<Answer>>();

  const askAndKeep = async (name: string): Promise<Answer> => {
    try {
      const answer = await ask(name);
      if (answer.outcome !== "failed") {
        keep(name, { answer, until: clock.now().getTime() + seconds[answer.outcome] * 1_000 });
      }
      return answer;
    } finally {
      underWay.delete(name);
    }
  };

  /** A Map keeps the order of insertion: putting an answer back makes it the youngest. */
  const keep = (name: string, value: Remembered<Answer>): void => {
    remembered.delete(name);
    remembered.set(name, value);
    const [oldest] = remembered.keys();
    if (remembered.size > entries && oldest !== undefined) remembered.delete(oldest);
  };

  return async (questionName) => {
    const name = questionName.toLowerCase();
    const known = remembered.get(name);
    if (known !== undefined && known.until > clock.now().getTime()) {
      keep(name, known);
      return known.answer;
    }
    const asked = underWay.get(name) ?? askAndKeep(name);
    underWay.set(name, asked);
    return asked;
  };
}
