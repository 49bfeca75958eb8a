import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** .ci/run asks for a machine's report beside the one for people. */
const report = process.env.TEST_REPORT;

/**
 * Spreads the end-to-end tests and those of the console over the first half of the others, which begin with the largest file:
 * their own files are small, and one that began last would run alone at the end. Each starts several processes, so they do not
 * run together.
 */
class SpreadEndToEnd extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isEndToEnd = ({ moduleId }: TestSpecification) => /\/test\/(?:console|e2e)\//.test(moduleId);
    const [endToEnd, others] = [sorted.filter(isEndToEnd), sorted.filter((file) => !isEndToEnd(file))];
    const step = Math.floor(others.length / Math.max(1, 2 * endToEnd.length));
    const spread = endToEnd.flatMap((file, at) => [file, ...others.slice(at * step, (at + 1) * step)]);
    return [...spread, ...others.slice(endToEnd.length * step)];
  }
}

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "console/src/**/*.test.ts", "test/**/*.test.ts"],
    globalSetup: "test/support/global-setup.ts",
    reporters: report ? ["default", ["json", { outputFile: report }]] : ["default"],
    // Only what hangs takes so long, even on a machine that is busy.
    testTimeout: 120_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 20_000 } },
    // Half as many again as there are cores: end-to-end tests wait for much of their time.
    maxWorkers: Math.ceil(availableParallelism() * 1.5),
    sequence: { sequencer: SpreadEndToEnd },
  },
});
