/** How the service reads the beginning of a file: its columns with suggestions, and its first rows. */
import { PosthasteError, type Schema } from "@posthaste/client";
import { useQuery } from "@tanstack/react-query";
import { usePlace } from "../../api/session.tsx";
import { mostInspectedBytes } from "./limits.ts";

export interface Reading {
  /** Empty: as the service finds it. */
  readonly encoding: string;
  /** Undefined: as the file shows. */
  readonly hasHeader: boolean | undefined;
}

export interface FileColumns {
  /** Null when the file is no table, for the reason in `fault`. */
  readonly columns: Schema<"InspectedImportFile"> | null;
  readonly fault: string | undefined;
}

export function useFileColumns(listId: string, file: File, { encoding, hasHeader }: Reading) {
  const { api, workspace } = usePlace();
  const { name, size, lastModified } = file;
  return useQuery({
    queryKey: ["import-columns", workspace.id, listId, name, size, lastModified, encoding, hasHeader],
    queryFn: async ({ signal }): Promise<FileColumns> => {
      try {
        const columns = await api.inspectImportFile({
          id: listId,
          body: {
            csvFile: { name, content: file.slice(0, mostInspectedBytes) },
            is_beginning: size > mostInspectedBytes,
            ...(encoding !== "" && { encoding }),
            ...(hasHeader !== undefined && { has_header: hasHeader }),
          },
          signal,
        });
        return { columns, fault: undefined };
      } catch (error) {
        if (!(error instanceof PosthasteError && error.code === "BAD_REQUEST")) throw error;
        return { columns: null, fault: error.message };
      }
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
}
