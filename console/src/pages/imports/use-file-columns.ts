/**
 * Asks the service what it sees in the beginning of a file, and which field it suggests for each column. The answer is that of
 * a trial run, whose job is not needed and cancelled.
 */
import type { Posthaste, Schema } from "@posthaste/client";
import { useQuery } from "@tanstack/react-query";
import { mayCall, usePlace } from "../../api/session.tsx";
import { COLUMNS_LABEL } from "../../parts/job-words.ts";
import { labelLength } from "./limits.ts";
import type { FileLook } from "./read-file.ts";

export interface Reading {
  /** Empty: as the service finds it. */
  readonly encoding: string;
  /** Undefined: as the file shows. */
  readonly hasHeader: boolean | undefined;
}

export interface FileColumns {
  /** Null when the file is no table, for the reason in `fault`. */
  readonly columns: Schema<"ImportFile"> | null;
  readonly fault: string | undefined;
}

export function useFileColumns(listId: string, look: FileLook, { encoding, hasHeader }: Reading) {
  const { api, workspace } = usePlace();
  const { name, size, lastModified } = look.file;
  return useQuery({
    queryKey: ["import-columns", workspace.id, listId, name, size, lastModified, encoding, hasHeader],
    queryFn: async ({ signal }): Promise<FileColumns> => {
      const ask = async (header: boolean | undefined) => {
        const { job_id, file } = await api.importSubscribers({
          id: listId,
          query: { dry_run: true },
          body: {
            // The name says nothing, so that no name of a file decides who gets no mail; columns are asked about later.
            csvFile: { name: "columns.csv", content: look.beginning },
            label: `${COLUMNS_LABEL} ${name}`.slice(0, labelLength),
            opt_out_column: ["ignore"],
            ...(encoding !== "" && { encoding }),
            ...(header !== undefined && { has_header: header }),
          },
          signal,
        });
        if (file === null) return { columns: null, fault: await faultOf(api, job_id, signal) };
        if (mayCall(workspace, "cancelJob")) await api.cancelJob({ job_id }).catch(() => undefined);
        return { columns: file, fault: undefined };
      };
      const answer = await ask(hasHeader);
      // A name with an address in it is the first person, not the name of a column.
      const isPerson =
        hasHeader === undefined && answer.columns?.columns.some(({ column }) => isAddress(column));
      return isPerson ? ask(false) : answer;
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
}

function isAddress(text: string): boolean {
  return /^\S+@\S+\.\S+$/.test(text.trim());
}

async function faultOf(api: Posthaste, jobId: string, signal: AbortSignal): Promise<string | undefined> {
  const job = await api.waitForJob(jobId, { signal });
  return job.error ?? undefined;
}
