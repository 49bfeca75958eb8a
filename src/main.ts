/** Posthaste's entry: `deliver` is the service's own child process, everything else the operator's command line. */
const argv = process.argv.slice(2);
// The one place that reads the environment; platform/config/config.ts makes sense of it.
const environment = process.env;
// Under `node --watch` a child reports its modules on its IPC channel, which carries the delivery process's reports.
delete environment.WATCH_REPORT_DEPENDENCIES;
// Every file that this process or its children make is the owner's alone.
process.umask(0o077);

if (argv[0] === "deliver") {
  // Each loads what it needs: the endpoints would take 12 MiB of the delivery process's heap.
  const { deliver } = await import("./processes/delivery.ts");
  await deliver(environment);
} else {
  const [{ endpointsForDocs }, { runCli }, { serve }] = await Promise.all([
    import("./processes/api.ts"),
    import("./cli/program.ts"),
    import("./processes/serve.ts"),
  ]);
  process.exitCode = await runCli(argv, {
    stdout: process.stdout,
    stderr: process.stderr,
    environment,
    endpoints: endpointsForDocs,
    serve: (roles) => serve(environment, roles),
  });
}
