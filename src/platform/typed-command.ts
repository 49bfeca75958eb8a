/** The commands of this program in messages for operators, as they are typed where it is installed. */

/**
 * @param words the command with its arguments, such as `sending release`
 * @param program the path of a file of the program: TypeScript in a checkout, JavaScript in a package, which npm has
 *   installed or an image contains
 */
export function typedCommand(words: string, program = import.meta.filename): string {
  return `${launcherOf(program)} ${words}`;
}

function launcherOf(program: string): string {
  if (program.endsWith(".ts")) return "npm run -s posthaste --";
  // The image has the program in its PATH.
  return /[\\/]node_modules[\\/]posthaste[\\/]/.test(program) ? "npx posthaste" : "posthaste";
}
