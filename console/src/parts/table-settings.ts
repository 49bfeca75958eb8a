/** How a person wants a table: its columns, its density and the rows of a page. Remembered in this browser for each person. */
import { useState } from "react";
import { usePlace } from "../api/session.tsx";

export interface TableSettings {
  readonly hidden: readonly string[];
  readonly isDense: boolean;
  /** Rows of a page; undefined for what the API gives by itself. */
  readonly limit?: number | undefined;
}

const plain: TableSettings = { hidden: [], isDense: false };

export function useTableSettings(table: string) {
  const { session } = usePlace();
  const key = `table ${session.person.id} ${table}`;
  const [settings, setSettings] = useState<TableSettings>(() => read(key));
  const change = (next: Partial<TableSettings>) => {
    const changed = { ...settings, ...next };
    localStorage.setItem(key, JSON.stringify(changed));
    setSettings(changed);
  };
  return { settings, change };
}

function read(key: string): TableSettings {
  try {
    return { ...plain, ...(JSON.parse(localStorage.getItem(key) ?? "{}") as Partial<TableSettings>) };
  } catch {
    return plain;
  }
}
