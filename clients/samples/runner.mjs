// Runs samples of TypeScript: reads one per line, as JSON, and answers with the error or null.

import { writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const [typescript, folder] = process.argv.slice(2);
const ts = createRequire(import.meta.url)(typescript);
const compilerOptions = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 };

// The output belongs to the answers.
console.log = () => {};

for await (const line of createInterface({ input: process.stdin })) {
  const { name, text, env } = JSON.parse(line);
  delete process.env.DERMAGA_TOKEN;
  Object.assign(process.env, env);
  let error = null;
  try {
    const file = join(folder, `${name}.mjs`);
    await writeFile(file, ts.transpileModule(text, { compilerOptions }).outputText);
    await import(`${pathToFileURL(file)}?${process.hrtime.bigint()}`);
  } catch (why) {
    error = String(why?.stack ?? why);
  }
  process.stdout.write(`${JSON.stringify({ error })}\n`);
}
