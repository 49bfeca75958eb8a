/** The revision of what editors save: its ETag, and the error for an editor that has seen an older one. */
import { ApiError } from "#platform/errors.ts";

interface Revised {
  readonly revision: number;
}

/** The revision as a header ETag (RFC 9110 section 8.8.3). */
export function etagOf({ revision }: Revised): string {
  return `"${revision}"`;
}

/**
 * PRECONDITION_FAILED, with the resource as it is now.
 * @param noun such as `campaign`
 * @param note what `current` leaves out, in brackets; empty if it leaves out nothing
 */
export function changedMeanwhile(noun: string, current: Revised, note = ""): ApiError {
  return new ApiError(
    "PRECONDITION_FAILED",
    `The ${noun} was changed meanwhile and is at revision ${current.revision}, which is in "current"${note}: merge your changes with it, and send them with this revision in If-Match`,
    { current, headers: { ETag: etagOf(current) } },
  );
}
