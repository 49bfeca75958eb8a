/** The rules of an import, and the request that they make with a file and a mapping. */
import type { Body } from "@posthaste/client";
import { defaultOf } from "./limits.ts";
import { NOTHING } from "./targets.ts";
import type { Reading } from "./use-file-columns.ts";

export interface ImportOptions {
  readonly updateExisting: boolean;
  readonly resubscribe: boolean;
  readonly triggerAutoresponders: boolean;
  /** Empty: as each row says. */
  readonly status: string;
  /** Empty: as the file shows. */
  readonly dateFormat: string;
  readonly label: string;
}

export const beginOptions: ImportOptions = {
  updateExisting: defaultOf("update_existing"),
  resubscribe: defaultOf("resubscribe"),
  triggerAutoresponders: defaultOf("trigger_autoresponders"),
  status: "",
  dateFormat: "",
  label: "",
};

type Import = Body<"importSubscribers">;

/** @param targets the field of each column by its position; every column is named, so that none is read by surprise */
export function importBody(
  file: File,
  targets: ReadonlyMap<number, string>,
  { encoding, hasHeader }: Reading,
  options: ImportOptions,
): Import {
  const { updateExisting, resubscribe, triggerAutoresponders, status, dateFormat, label } = options;
  return {
    csvFile: file,
    mapping: Array.from(targets, ([column, target]) => ({
      column,
      field: target === NOTHING ? null : target,
    })),
    update_existing: updateExisting,
    resubscribe,
    trigger_autoresponders: triggerAutoresponders,
    ...(hasHeader !== undefined && { has_header: hasHeader }),
    ...(encoding !== "" && { encoding }),
    ...(status !== "" && { status: status as NonNullable<Import["status"]> }),
    ...(dateFormat !== "" && { date_format: dateFormat }),
    ...(label.trim() !== "" && { label }),
  };
}
