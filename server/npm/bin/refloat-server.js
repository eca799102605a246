#!/usr/bin/env node
// The server: `refloat serve`.
import { launch } from '../lib/launch.js';

launch(['serve', ...process.argv.slice(2)]);
