import { defineConfig } from "vitest/config";

/** .ci/run asks for a machine's report beside the one for people. */
const report = process.env.TEST_REPORT;

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    globalSetup: "test/support/global-setup.ts",
    reporters: report ? ["default", ["json", { outputFile: report }]] : ["default"],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Two cores, and every database test talks to one PostgreSQL: more workers only queue behind each other.
    maxWorkers: 2,
  },
});
