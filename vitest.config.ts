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
    // For two cores: end-to-end tests wait for much of their time, and the third worker uses it.
    maxWorkers: 3,
  },
});
