/** Posthaste's entry: `deliver` is the service's own child process, everything else the operator's command line. */
import { endpointsForDocs } from "./app.ts";
import { runCli } from "./cli/program.ts";
import { deliver } from "./deliver.ts";
import { serve } from "./serve.ts";

const argv = process.argv.slice(2);
// The one place that reads the environment; platform/config.ts makes sense of it.
const environment = process.env;

if (argv[0] === "deliver") {
  await deliver(environment);
} else {
  process.exitCode = await runCli(argv, {
    stdout: process.stdout,
    stderr: process.stderr,
    environment,
    endpoints: endpointsForDocs,
    serve: (roles) => serve(environment, roles),
  });
}
