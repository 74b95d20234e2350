// Two builds of the page: a folder for static hosts and, with `--mode single`, one file that also works from file://.

import preact from "@preact/preset-vite";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";
import { viteSingleFile } from "vite-plugin-singlefile";
import { contentPolicy } from "./content-policy.ts";
import { offline } from "./offline.ts";

const source = (path: string): string => fileURLToPath(new URL(`src/${path}`, import.meta.url));

/** The folder of what is only loaded by the view SQL. The rest is loaded with the page. */
const folderOf = (name: string): string => (/duckdb|console/.test(name) ? "sql" : "assets");

export default defineConfig(({ mode }) => {
  const single = mode === "single";
  const how = single ? "inline" : "fetched";
  return {
    base: "./",
    plugins: [
      preact(),
      ...(single ? [viteSingleFile({ removeViteModuleLoader: true })] : []),
      contentPolicy(single),
      ...(single ? [] : [offline()]),
    ],
    resolve: {
      alias: {
        "#engine-code": source(`engine/code-${how}.ts`),
        "#sample": source(`engine/sample-${how}.ts`),
        "#sql": source(`views/sql/console-${how}.ts`),
      },
      // One version in the page and in `kinetoscope/arrow`; DuckDB has its own.
      dedupe: ["apache-arrow"],
    },
    worker: { format: "iife" as const },
    publicDir: false as const,
    build: {
      outDir: "dist",
      emptyOutDir: !single,
      target: "es2022",
      assetsInlineLimit: single ? Number.MAX_SAFE_INTEGER : 0,
      chunkSizeWarningLimit: 4000,
      reportCompressedSize: false,
      ...(single
        ? {}
        : {
            rolldownOptions: {
              output: {
                chunkFileNames: ({ name }) => `${folderOf(name)}/[name]-[hash].js`,
                assetFileNames: ({ names }) => `${folderOf(names[0] ?? "")}/[name]-[hash][extname]`,
              },
            },
          }),
    },
  };
});
