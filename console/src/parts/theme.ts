/** Light, dark, or as the system: a setting of the person, kept in this browser for the first paint. */
import type { Schema } from "@posthaste/client";

export type Theme = NonNullable<Schema<"PersonAccount">["theme"]> | "system";

const names: Readonly<Record<Theme, string>> = { system: "As the system", light: "Light", dark: "Dark" };
export const themes = Object.entries(names).map(([id, name]) => ({ id: id as Theme, name }));

export function showTheme(theme: Theme): void {
  localStorage.setItem("theme", theme);
  document.documentElement.dataset.theme = theme;
}
