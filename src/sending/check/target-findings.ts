/** Findings about links and images, from what their servers answered. */
import { getDomain } from "tldts";
import { ASKED_FOR_MS, type AskedKind, type AskResult, type ServerAnswer } from "./ask-server.ts";
import type { CheckFinding, Severity } from "./campaign-check.ts";
import type { PlacedTarget } from "./choose-targets.ts";
import { wholeFinding } from "./findings.ts";

/** Larger images load slowly on telephones. */
const LARGE_IMAGE = 200 * 1024;
const HEAVY_IMAGES = 1024 * 1024;

export interface TargetReading {
  readonly findings: readonly CheckFinding[];
  readonly counts: Readonly<Record<AskedKind, { readonly checked: number; readonly bytes: number }>>;
  /** Why targets were not checked, in sentences. */
  readonly unchecked: readonly { readonly part: "links" | "images"; readonly reason: string }[];
}

interface Fault {
  readonly severity: Severity;
  /** Without its kind: "broken" becomes `link_broken`. */
  readonly about: string;
  readonly message: string;
  readonly fix: string;
}

/** @param results of the targets, in their order */
export function readTargets(targets: readonly PlacedTarget[], results: readonly AskResult[]): TargetReading {
  const findings: CheckFinding[] = [];
  const counts = { link: { checked: 0, bytes: 0 }, image: { checked: 0, bytes: 0 } };
  const unasked = new Map<string, { readonly first: PlacedTarget; readonly reason: string; times: number }>();
  for (const [at, target] of targets.entries()) {
    const result = results[at];
    if (result === undefined) continue;
    if (result.outcome === "unasked") {
      const key = `${target.kind} ${result.reason}`;
      const known = unasked.get(key);
      if (known === undefined) unasked.set(key, { first: target, reason: result.reason, times: 1 });
      else known.times += 1;
      continue;
    }
    const count = counts[target.kind];
    count.checked += 1;
    if (result.outcome === "answered") count.bytes += result.bytes ?? 0;
    findings.push(...faultsOf(target, result).map((fault) => findingOf(target, fault)));
  }
  if (counts.image.bytes > HEAVY_IMAGES) findings.push(heavyImages(counts.image.bytes));
  return { findings, counts, unchecked: [...unasked.values()].map(uncheckedOf) };
}

function findingOf({ kind, url, line, column, occurrences }: PlacedTarget, fault: Fault): CheckFinding {
  const { severity, about, message, fix } = fault;
  const whole = wholeFinding(severity, `${kind}_${about}`, "html_content", message, fix);
  return { ...whole, line, column, occurrences, url: url.slice(0, 2_000) };
}

function uncheckedOf({
  first: { kind, url },
  reason,
  times,
}: {
  first: PlacedTarget;
  reason: string;
  times: number;
}) {
  const [part, one, was] = [`${kind}s` as const, url.slice(0, 200), times === 1 ? "was" : "were"];
  const what = times === 1 ? `The ${kind} ${one}` : `${times} ${part}, such as ${one},`;
  return { part, reason: `${what} ${was} not checked: ${reason}.` };
}

function heavyImages(bytes: number): CheckFinding {
  const message = `The images have ${(bytes / 1024 / 1024).toFixed(1)} MB together, which takes seconds on a telephone.`;
  return wholeFinding("warning", "images_heavy", "html_content", message, "Compress them, or show fewer.");
}

function faultsOf({ kind, url }: PlacedTarget, result: AskResult): Fault[] {
  const what = `The ${kind} ${url.slice(0, 200)}`;
  const fix =
    kind === "link" ? "Correct the address, or remove the link." : "Correct the address of the image.";
  const broken = (severity: Severity, about: string, message: string): Fault => ({
    severity,
    about,
    message: `${what} ${message}.`,
    fix,
  });
  switch (result.outcome) {
    case "unasked":
      return [];
    case "unreachable":
    case "bad_redirect":
      return [broken("error", "unreachable", `cannot be reached: ${result.reason}`)];
    case "private":
      return [broken("error", "private", `cannot be reached by readers: ${result.reason}`)];
    case "timeout":
      return [broken("warning", "slow", `gave no answer within ${ASKED_FOR_MS / 1000} seconds`)];
    case "redirect_loop":
      return [broken("error", "redirect_loop", `cannot be reached: ${result.reason}`)];
    case "answered":
      return [
        ...statusFaults(kind, result, broken),
        ...redirectFaults(url, result, broken),
        ...(kind === "image" ? imageFaults(result, broken) : []),
      ];
  }
}

type MakeFault = (severity: Severity, about: string, message: string) => Fault;

function statusFaults(kind: AskedKind, { status }: ServerAnswer, fault: MakeFault): Fault[] {
  if (status < 400) return [];
  if (status === 404 || status === 410) {
    return [fault("error", kind === "link" ? "broken" : "missing", `does not exist (HTTP ${status})`)];
  }
  if (status >= 500 && status < 600) {
    return [fault("warning", "server_error", `leads to an error of its server (HTTP ${status})`)];
  }
  // Many sites show people what they refuse to programs.
  const message = `was refused to the check (HTTP ${status}), although it may work for readers`;
  return [{ ...fault("info", "refused", message), fix: "Open it yourself to see whether it works." }];
}

function redirectFaults(url: string, { hops, status }: ServerAnswer, fault: MakeFault): Fault[] {
  const last = hops.at(-1);
  if (last === undefined || status >= 400) return [];
  const steps = [url, ...hops];
  const losesTls = steps.some((step, at) => step.startsWith("http:") && steps[at - 1]?.startsWith("https:"));
  const [from, to] = [getDomain(url), getDomain(last)];
  return [
    ...(losesTls
      ? [fault("warning", "redirects_to_http", `redirects from https to http: ${last.slice(0, 200)}`)]
      : []),
    ...(from !== null && to !== null && from !== to
      ? [fault("info", "redirects_elsewhere", `redirects to another site: ${last.slice(0, 200)}`)]
      : []),
  ];
}

function imageFaults({ status, bytes, isImage }: ServerAnswer, fault: MakeFault): Fault[] {
  if (status >= 400) return [];
  if (!isImage) return [fault("error", "not_an_image", "is not an image")];
  if (bytes === null || bytes <= LARGE_IMAGE) return [];
  const message = `has ${Math.round(bytes / 1024)} KB, which loads slowly on a telephone`;
  return [{ ...fault("warning", "large", message), fix: "Compress it, or make it smaller." }];
}
