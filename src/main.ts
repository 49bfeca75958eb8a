/**
 * The entry point: `deliver` is the delivery process, a child of `serve`; `mcp` is started by AI assistants; everything else is
 * the command line.
 */
import { useSpareTime } from "#platform/process/thread-pool-priority.ts";

const argv = process.argv.slice(2);
// The only file that reads the environment; platform/config/config.ts parses it.
const environment = process.env;
// Under `node --watch` a child reports its modules on its IPC channel, which carries the delivery process's reports.
delete environment.WATCH_REPORT_DEPENDENCIES;
// Files that this process and its children create are readable by their owner only.
process.umask(0o077);

if (argv[0] === "deliver") {
  // Imported on demand: the endpoints would take 12 MiB of the delivery process's heap.
  const { deliver } = await import("./processes/delivery.ts");
  await deliver(environment);
} else if (argv[0] === "mcp") {
  // Imported alone: an assistant waits for its start, and keeps it running.
  const { runMcp } = await import("./cli/mcp.ts");
  const { stdin, stdout, stderr } = process;
  process.exitCode = await runMcp(argv, { stdin, stdout, stderr, environment });
} else {
  // A backup takes the processor time that the service leaves.
  if (argv[0] === "backup") await useSpareTime();
  const [{ endpointsForDocs }, { runCli }, { serve }] = await Promise.all([
    import("./processes/api.ts"),
    import("./cli/program.ts"),
    import("./processes/serve.ts"),
  ]);
  process.exitCode = await runCli(argv, {
    stdout: process.stdout,
    stderr: process.stderr,
    stdin: process.stdin,
    environment,
    endpoints: endpointsForDocs,
    serve: (roles) => serve(environment, roles),
  });
}
