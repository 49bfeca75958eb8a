/** What a check changed in the flags of a sending domain. */

import type { SendingDomain } from "#identity/sending-domains/store.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";

const flags = [
  "is_verified",
  "spf_verified",
  "dkim_verified",
  "dmarc_verified",
  "return_path_verified",
] as const satisfies (keyof SendingDomain)[];

export type Flag = (typeof flags)[number];

export interface VerificationChange {
  readonly workspaceId: WorkspaceId;
  readonly domainId: string;
  readonly domain: string;
  readonly gained: readonly Flag[];
  readonly lost: readonly Flag[];
  readonly time: Date;
}

/** Called in the transaction that writes the flags, also for checks that changed nothing. */
export type OnVerification = (tx: Queryable, change: VerificationChange) => Promise<void>;

/** The flags gained and lost between two checks. */
export function changeOf(
  workspaceId: WorkspaceId,
  { before, after }: { readonly before: SendingDomain; readonly after: SendingDomain },
  time: Date,
): VerificationChange {
  return {
    workspaceId,
    domainId: after.id,
    domain: after.domain,
    gained: flags.filter((flag) => !before[flag] && after[flag]),
    lost: flags.filter((flag) => before[flag] && !after[flag]),
    time,
  };
}
