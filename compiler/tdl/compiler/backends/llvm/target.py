"""The machine that code is made for, and LLVM's own passes. llvmlite is imported on first use."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from tdl.language.diagnostic import InternalError

if TYPE_CHECKING:
    pass


@dataclass(frozen=True, slots=True)
class Target:
    """A CPU as LLVM names it; `features` is the comma-separated list of `+feature` and `-feature`."""

    triple: str
    cpu: str
    features: str
    llvm_version: str

    @property
    def is_x86(self) -> bool:
        return self.triple.startswith(("x86_64", "i686"))

    @property
    def machine_f16(self) -> bool:
        """Whether f16 is converted by instructions rather than by library calls."""
        return "+f16c" in self.features.split(",") or self.triple.startswith(("aarch64", "arm64"))


@cache
def host() -> Target:
    """This machine."""
    llvm = binding()
    version = ".".join(map(str, llvm.llvm_version_info))
    return Target(llvm.get_process_triple(), llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten(), version)


@cache
def binding() -> Any:
    """llvmlite's binding, initialised for this machine."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    llvm.initialize_native_asmparser()
    return llvm


def machine(target: Target) -> Any:
    """An LLVM target machine. It is not shared: LLVM's are not safe to use from two threads."""
    llvm = binding()
    return llvm.Target.from_triple(target.triple).create_target_machine(
        cpu=target.cpu, features=target.features, opt=3, reloc="pic", codemodel="jitdefault", jit=True
    )


def parse(ir: str, target_machine: Any) -> Any:
    """A verified LLVM module for the machine. Raises InternalError where the text is not valid LLVM."""
    llvm = binding()
    try:
        module = llvm.parse_assembly(ir)
        module.triple = target_machine.triple
        module.data_layout = str(target_machine.target_data)
        module.verify()
    except RuntimeError as error:
        raise InternalError(f"LLVM refuses what was made for it: {error}\n{ir}") from error
    return module


FINAL = "; vectors and unrolling are decided\n"
"""The first line of a text that LLVM shall neither vectorise nor unroll."""


def optimise(module: Any, target_machine: Any, *, is_final: bool = False) -> Any:
    """Run LLVM's pipeline in place: O3 with its vectorisers, or where all that is decided, O2 without."""
    llvm = binding()
    options = llvm.create_pipeline_tuning_options(2 if is_final else 3)
    options.loop_vectorization = not is_final
    options.slp_vectorization = not is_final
    options.loop_unrolling = not is_final
    options.loop_interleaving = not is_final
    builder = llvm.create_pass_builder(target_machine, options)
    builder.getModulePassManager().run(module, builder)
    return module


def object_code(ir: str, target: Target) -> bytes:
    """Optimised machine code for the target, as an object file's contents."""
    target_machine = machine(target)
    module = optimise(parse(ir, target_machine), target_machine, is_final=ir.startswith(FINAL))
    code: bytes = target_machine.emit_object(module)
    return code
