//! `job_submit.lua`: holds the jobs of a partition for the driver, and marks them.

use super::MARK;
use std::path::Path;

/// The script for some partitions. It goes where `slurm.conf` is.
///
/// Only jobs that can be placed are held: none that its user has held, that names or excludes nodes, or that
/// is heterogeneous. The mark has the priority that an operator has given the job, so that jobs are taken in
/// Slurm's order. A byte is added to the file `wake` for each job that is held, if it is there.
pub fn script(partitions: &[String], wake: Option<&Path>) -> String {
    let quoted = |text: &str| format!("\"{}\"", text.replace(['"', '\\', '\n'], ""));
    let list: Vec<String> = partitions.iter().map(|name| format!("[{}] = true", quoted(name))).collect();
    let wake = wake.map_or_else(|| "nil".to_owned(), |path| quoted(&path.to_string_lossy()));
    format!(
        r#"-- Written by `esdp slurm doctor --print-lua`. Holds jobs for esdp, which places and releases them.
-- To go back: take `lua` out of JobSubmitPlugins, `scontrol reconfigure`, and release what is held:
--   squeue --noheader --states=PD --format='%i %r' | awk '$2 ~ /^JobHeld/ {{print $1}}' |
--     xargs -r -n1 scontrol release

local partitions = {{ {list} }}
-- What `esdp slurm run --wake FILE` looks at, so that it decides as soon as a job was submitted.
local wake = {wake}

-- The priority by which esdp takes jobs, highest first; jobs that are alike go by the time of their
-- submission. Slurm computes none for a held job: a site whose order is another one writes it here.
local function priority(job_desc)
  local given = job_desc.priority
  local nice = job_desc.nice
  local base = 4294901760
  if given ~= nil and given ~= slurm.NO_VAL then base = given end
  if nice ~= nil and nice ~= slurm.NO_VAL and nice ~= slurm.NO_VAL16 then
    base = base - (nice - slurm.NICE_OFFSET)
  end
  return string.format("%d", math.max(1, math.min(4294967293, base)))
end

local function is_set(text)
  return text ~= nil and text ~= ""
end

local function wake_up()
  -- "r+" makes no file: where nobody looks, nothing is written.
  local file = wake and io.open(wake, "r+")
  if file == nil then return end
  file:seek("end")
  file:write(".")
  file:close()
end

function slurm_job_submit(job_desc, part_list, submit_uid)
  local name = job_desc.partition
  if not is_set(name) then
    for _, part in pairs(part_list) do
      if part.flag_default == 1 then name = part.name end
    end
  end
  if name == nil or not partitions[name] then return slurm.SUCCESS end
  if job_desc.priority == 0 then return slurm.SUCCESS end
  if is_set(job_desc.req_nodes) or is_set(job_desc.exc_nodes) then return slurm.SUCCESS end
  if job_desc.het_job_offset ~= nil and job_desc.het_job_offset ~= slurm.NO_VAL then return slurm.SUCCESS end
  job_desc.admin_comment = "{MARK} " .. priority(job_desc)
  job_desc.priority = 0
  wake_up()
  return slurm.SUCCESS
end

function slurm_job_modify(job_desc, job_rec, part_list, modify_uid)
  return slurm.SUCCESS
end

return slurm.SUCCESS
"#,
        list = list.join(", ")
    )
}
