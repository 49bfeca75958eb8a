/** `posthaste config`: prints every setting with its value on this machine. */

import type { Command } from "commander";
import { readConfig } from "#platform/config/config.ts";
import { type SettingName, settings } from "#platform/config/settings.ts";
import type { CliOptions } from "./command/command-dependencies.ts";
import { table } from "./command/output.ts";

export function addConfigCommand(program: Command, { stdout, environment }: CliOptions): void {
  program
    .command("config")
    .description("show every setting, its value and what it does")
    .action(() => {
      // Refuses settings that the service would refuse, with the same error.
      readConfig(environment);
      const names = Object.keys(settings) as SettingName[];
      const rows = names.map((setting) => ({
        setting,
        value: shown(setting),
        about: settings[setting].about,
      }));
      stdout.write(table(["setting", "value", "about"], rows));
    });

  function shown(name: SettingName): string | null {
    const definition = settings[name];
    const value = environment[name]?.trim() || definition.default;
    return value !== "" && "secret" in definition && definition.secret ? "(hidden)" : value || null;
  }
}
